#include "tests/gzip/scanned_gzip.h"

#include <algorithm>

#include "indexer/codec/gzip_decoder.h"

namespace soci::test {
namespace {

class Notes final : public GzipDecoder::Observer {
 public:
  explicit Notes(OracleAnswer& answer) : answer_(answer) {}
  Status OnCompressed(ByteSpan bytes) override {
    compressed_ += bytes.size();
    return OkStatus();
  }
  Status OnCheckpoint(const Checkpoint& checkpoint, ByteSpan window) override {
    if (compressed_ != checkpoint.compressed) return absl::InternalError("bytes before a checkpoint were not told");
    answer_.checkpoints.push_back(checkpoint);
    answer_.windows.emplace_back(AsText(window));
    return OkStatus();
  }
  Status OnMember(MemberKind) override { return OkStatus(); }
  uint64_t compressed() const { return compressed_; }

 private:
  OracleAnswer& answer_;
  uint64_t compressed_ = 0;
};

}  // namespace

Result<size_t> TextStream::Read(MutableByteSpan out) {
  const size_t count = std::min({out.size(), text_.size(), most_});
  std::copy_n(AsBytes(text_).begin(), count, out.begin());
  text_.remove_prefix(count);
  return count;
}

Result<OracleAnswer> AskOurs(std::string_view gzip, uint64_t span_size, size_t read_size) {
  OracleAnswer answer;
  Notes notes(answer);
  TextStream stream(gzip, read_size);
  GzipDecoder decoder(stream, span_size, &notes);
  while (true) {
    SOCI_ASSIGN_OR_RETURN(const ByteSpan piece, decoder.Next());
    if (piece.empty()) break;
    answer.decoded += AsText(piece);
  }
  if (notes.compressed() != gzip.size()) return absl::InternalError("not every byte was told");
  return answer;
}

}  // namespace soci::test
