#include "indexer/codec/gzip_decoder.h"

#include <fmt/format.h>
#include <isa-l/crc.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "indexer/codec/inflate.h"
#include "indexer/codec/input_buffer.h"

namespace soci {
namespace {

constexpr size_t kInputSize = 256 << 10;
constexpr size_t kPieceSize = 256 << 10;
static_assert(InputBuffer::kSlack >= deflate::kInputSlack);

uint32_t LittleEndian(ByteSpan bytes) {
  uint32_t number = 0;
  for (size_t i = 4; i-- > 0;) number = number << 8 | std::to_integer<uint32_t>(bytes[i]);
  return number;
}

uint32_t BigEndian(ByteSpan bytes) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | std::to_integer<uint32_t>(bytes[i]);
  return number;
}

}  // namespace

class GzipDecoder::Impl {
 public:
  Impl(ByteStream& stream, uint64_t span_size, Observer* observer)
      : input_(stream, kInputSize),
        span_size_(span_size),
        observer_(observer),
        output_(kWindowSize + kPieceSize + deflate::kOutputSlack) {}

  Result<ByteSpan> Next();

 private:
  enum class Phase { kMember, kBlocks, kTrailer, kEnd };

  Status Advance();
  Status BeginMember();
  Status DecodeBlocks();
  Status CheckTrailer();
  void TakeOutput(size_t end);
  Status MaybeCheckpoint();
  Status Fill();
  Status Want(size_t count);
  Status Report();
  void Checksum(ByteSpan bytes);
  Status Truncated() const {
    return absl::InvalidArgumentError(fmt::format("gzip data truncated at byte {}", input_.position()));
  }

  InputBuffer input_;
  const uint64_t span_size_;
  Observer* const observer_;
  deflate::Inflater inflater_;

  Phase phase_ = Phase::kMember;
  MemberKind kind_ = MemberKind::kGzip;
  bool first_member_ = true;
  uint32_t checksum_ = 0;
  uint64_t member_size_ = 0;

  std::vector<std::byte> output_;  // the window, then what is decoded
  size_t given_ = kWindowSize;     // of output_, what Next has given out
  size_t end_ = kWindowSize;       // of output_, what is decoded
  uint64_t decoded_ = 0;           // bytes of all members
  uint64_t last_checkpoint_ = 0;   // bytes of all members at the last one
};

Result<ByteSpan> GzipDecoder::Impl::Next() {
  given_ = end_;
  if (kWindowSize + kPieceSize - std::min(end_, kWindowSize + kPieceSize) < kPieceSize / 4) {
    std::memmove(output_.data(), output_.data() + end_ - kWindowSize, kWindowSize);
    given_ = end_ = kWindowSize;
  }
  while (given_ == end_ && phase_ != Phase::kEnd) SOCI_RETURN_IF_ERROR(Advance());
  return ByteSpan(output_).subspan(given_, end_ - given_);
}

Status GzipDecoder::Impl::Advance() {
  switch (phase_) {
    case Phase::kMember:
      return BeginMember();
    case Phase::kBlocks:
      return DecodeBlocks();
    case Phase::kTrailer:
      return CheckTrailer();
    case Phase::kEnd:
      break;
  }
  return OkStatus();
}

Status GzipDecoder::Impl::BeginMember() {
  SOCI_RETURN_IF_ERROR(Want(kMaxMemberHeader));
  if (!first_member_ && input_.at_end()) {
    phase_ = Phase::kEnd;
    return Report();
  }
  if (!first_member_ && !LooksLikeMember(input_.unread())) {
    return absl::InvalidArgumentError(fmt::format("bytes after the last gzip member, at byte {}", input_.position()));
  }
  SOCI_ASSIGN_OR_RETURN(const MemberHeader header, ParseMemberHeader(input_.unread()));
  if (header.size == 0) return Truncated();
  if (first_member_ && header.kind != MemberKind::kGzip) return absl::InvalidArgumentError("not a gzip stream (zlib)");
  kind_ = header.kind;
  first_member_ = false;
  input_.Consume(header.size);
  member_size_ = 0;
  checksum_ = kind_ == MemberKind::kGzip ? 0 : 1;
  inflater_.Begin();
  phase_ = Phase::kBlocks;
  return observer_ != nullptr ? observer_->OnMember(kind_) : OkStatus();
}

Status GzipDecoder::Impl::DecodeBlocks() {
  const ByteSpan unread = input_.unread();
  const auto* begin = reinterpret_cast<const uint8_t*>(unread.data());
  auto* window = reinterpret_cast<uint8_t*>(output_.data());
  deflate::Input input{begin, begin + unread.size(), input_.ended()};
  deflate::Output output{.next = window + end_,
                         .target = window + kWindowSize + kPieceSize,
                         .oldest = window + end_ - std::min<uint64_t>(end_, member_size_)};
  const deflate::Inflater::Stop stop = inflater_.Step(input, output);
  input_.Consume(static_cast<size_t>(input.next - begin));
  TakeOutput(static_cast<size_t>(output.next - window));
  switch (stop) {
    case deflate::Inflater::Stop::kBlock:
      return MaybeCheckpoint();
    case deflate::Inflater::Stop::kInput:
      return Fill();
    case deflate::Inflater::Stop::kOutput:
      return OkStatus();
    case deflate::Inflater::Stop::kEnd:
      phase_ = Phase::kTrailer;
      return OkStatus();
    case deflate::Inflater::Stop::kTruncated:
      return Truncated();
    case deflate::Inflater::Stop::kDamaged:
      break;
  }
  return absl::InvalidArgumentError(fmt::format("gzip data damaged before byte {}", input_.position()));
}

void GzipDecoder::Impl::TakeOutput(size_t end) {
  const size_t made = end - end_;
  Checksum(ByteSpan(output_).subspan(end_, made));
  end_ = end;
  decoded_ += made;
  member_size_ += made;
}

Status GzipDecoder::Impl::CheckTrailer() {
  const size_t size = MemberTrailerSize(kind_);
  SOCI_RETURN_IF_ERROR(Want(size));
  if (input_.unread().size() < size) return Truncated();
  const ByteSpan trailer = input_.unread().first(size);
  const bool right = kind_ == MemberKind::kZlib
                         ? BigEndian(trailer) == checksum_
                         : LittleEndian(trailer) == checksum_ &&
                               LittleEndian(trailer.subspan(4)) == static_cast<uint32_t>(member_size_);
  if (!right) {
    return absl::InvalidArgumentError(
        fmt::format("gzip checksum or length wrong in the trailer at byte {}", input_.position()));
  }
  input_.Consume(size);
  phase_ = Phase::kMember;
  return OkStatus();
}

Status GzipDecoder::Impl::MaybeCheckpoint() {
  if (observer_ == nullptr) return OkStatus();
  if (decoded_ != 0 && decoded_ - last_checkpoint_ <= span_size_) return OkStatus();
  last_checkpoint_ = decoded_;
  SOCI_RETURN_IF_ERROR(Report());
  const Checkpoint checkpoint{
      .compressed = input_.position(), .uncompressed = decoded_, .bits = static_cast<uint8_t>(inflater_.unused_bits())};
  return observer_->OnCheckpoint(checkpoint, ByteSpan(output_).subspan(end_ - kWindowSize, kWindowSize));
}

Status GzipDecoder::Impl::Fill() {
  SOCI_RETURN_IF_ERROR(Report());
  return input_.Fill();
}

Status GzipDecoder::Impl::Want(size_t count) {
  while (input_.unread().size() < count && !input_.ended()) SOCI_RETURN_IF_ERROR(Fill());
  return OkStatus();
}

Status GzipDecoder::Impl::Report() {
  return input_.Report([this](ByteSpan bytes) { return observer_ ? observer_->OnCompressed(bytes) : OkStatus(); });
}

void GzipDecoder::Impl::Checksum(ByteSpan bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  checksum_ = kind_ == MemberKind::kGzip
                  ? crc32_gzip_refl(checksum_, data, bytes.size())
                  : static_cast<uint32_t>(adler32(checksum_, data, static_cast<uInt>(bytes.size())));
}

GzipDecoder::GzipDecoder(ByteStream& compressed, uint64_t span_size, Observer* observer)
    : impl_(std::make_unique<Impl>(compressed, span_size, observer)) {}
GzipDecoder::~GzipDecoder() = default;

Result<ByteSpan> GzipDecoder::Next() { return impl_->Next(); }

}  // namespace soci
