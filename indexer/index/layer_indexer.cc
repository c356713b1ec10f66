#include "indexer/index/layer_indexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "indexer/base/byte_stream.h"
#include "indexer/codec/detect.h"
#include "indexer/ztoc/layer_scanner.h"

namespace soci {
namespace {

constexpr std::string_view kXattrPrefix = "SCHILY.xattr.";
constexpr std::string_view kOpaqueMark = ".wh..wh..opq";

// A stream whose first bytes can be looked at before they are read.
class PeekStream : public ByteStream {
 public:
  explicit PeekStream(ByteStream& inner) : inner_(inner) {}

  // The first `size` bytes, fewer only if there are no more. Before the first Read.
  Result<ByteSpan> Peek(size_t size) {
    while (head_.size() < size) {
      const size_t before = head_.size();
      head_.resize(size);
      SOCI_ASSIGN_OR_RETURN(size_t count, inner_.Read(MutableByteSpan(head_).subspan(before)));
      head_.resize(before + count);
      if (count == 0) break;
    }
    return ByteSpan(head_);
  }

  Result<size_t> Read(MutableByteSpan out) override {
    if (position_ == head_.size()) return inner_.Read(out);
    const size_t count = std::min(out.size(), head_.size() - position_);
    std::memcpy(out.data(), head_.data() + position_, count);
    position_ += count;
    return count;
  }

 private:
  ByteStream& inner_;
  ByteBuffer head_;
  size_t position_ = 0;
};

// A layer whose bytes are of another kind than its media type says is refused: the reference tool does so, and whoever
// unpacks it by its media type would fail. What is recognised as nothing goes on; the scanner tells what is wrong with
// it.
Status CheckFormat(PeekStream& stream, Compression claimed) {
  SOCI_ASSIGN_OR_RETURN(ByteSpan head, stream.Peek(kDetectSize));
  const std::optional<StreamFormat> found = DetectCompression(head);
  const StreamFormat expected = claimed == Compression::kGzip ? StreamFormat::kGzip : StreamFormat::kPlainTar;
  if (!found || *found == expected) return OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("its media type says {}, its bytes are {}", ToString(expected), ToString(*found)));
}

uint64_t LargestSpan(const ZtocHead& ztoc) {
  uint64_t largest = 0;
  for (const SpanExtent& span : ztoc.Spans()) largest = std::max(largest, span.uncompressed.size());
  return largest;
}

bool HasXattrs(const tar::Entries& entries) {
  for (const tar::Entry& entry : entries) {
    const auto record = entry.pax.lower_bound(std::string(kXattrPrefix));
    if (record != entry.pax.end() && record->first.starts_with(kXattrPrefix)) return true;
    if (entry.name.ends_with(kOpaqueMark)) return true;
  }
  return false;
}

}  // namespace

IndexedLayer DescribeLayer(const ZtocHead& ztoc, const tar::Entries& entries, const oci::DiffId& diff_id,
                           const LayerIndexOptions& options) {
  return {.ztoc = {},
          .diff_id = diff_id,
          .uncompressed_size = ztoc.uncompressed_size,
          .entries = entries.size(),
          .spans = ztoc.span_digests.size(),
          .largest_span = LargestSpan(ztoc),
          .has_xattrs = HasXattrs(entries),
          .prefetch = FindSpans(ztoc, entries, options.prefetch_paths),
          .recorded = options.record == nullptr ? RecordedSpans() : FindRecordedSpans(ztoc, entries, *options.record)};
}

Result<IndexedLayer> IndexLayer(const ByteSource& source, const oci::Descriptor& layer, Compression claimed,
                                const LayerIndexOptions& options, const std::function<void(uint64_t)>& progress,
                                const FetchContext& context) {
  const std::unique_ptr<ByteStream> bytes = MakeSourceStream(source, context);
  PeekStream stream(*bytes);
  SOCI_RETURN_IF_ERROR(CheckFormat(stream, claimed));
  SOCI_ASSIGN_OR_RETURN(
      ScannedLayer scanned,
      ScanLayer(stream, claimed,
                {.span_size = options.span_size, .build_tool = options.build_tool, .progress = progress}));
  if (scanned.layer != oci::LayerDigest(layer.digest)) {
    return absl::DataLossError(fmt::format("its bytes have the digest {}", scanned.layer.ToString()));
  }
  if (const LayerHazard* hazard = scanned.WhyNotExact()) return absl::InvalidArgumentError(hazard->reason);
  IndexedLayer indexed = DescribeLayer(scanned.ztoc, scanned.ztoc.entries, scanned.diff_id, options);
  SOCI_ASSIGN_OR_RETURN(indexed.ztoc, EncodeZtoc(std::move(scanned.ztoc)));
  return indexed;
}

}  // namespace soci
