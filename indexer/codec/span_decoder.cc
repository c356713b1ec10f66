#include "indexer/codec/span_decoder.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "indexer/codec/gzip_header.h"

namespace soci {
namespace {

constexpr size_t kPieceSize = 256 << 10;

Status Damaged(std::string_view what) { return absl::DataLossError(fmt::format("span does not decode: {}", what)); }

uInt Bounded(size_t size) { return static_cast<uInt>(std::min<size_t>(size, std::numeric_limits<uInt>::max())); }

// Inflates a span from its first bit on, over the ends of members.
class SpanInflater {
 public:
  SpanInflater() { inflateInit2(&inflater_, -MAX_WBITS); }
  ~SpanInflater() { inflateEnd(&inflater_); }
  SpanInflater(const SpanInflater&) = delete;
  SpanInflater& operator=(const SpanInflater&) = delete;

  Status Begin(const SpanExtent& span, ByteSpan window, ByteSpan compressed) {
    if (window.size() != kWindowSize) return absl::InternalError("a gzip span needs its window");
    rest_ = compressed;
    inflateSetDictionary(&inflater_, reinterpret_cast<const Bytef*>(window.data()), static_cast<uInt>(window.size()));
    if (span.bits == 0) return OkStatus();
    if (rest_.empty()) return Damaged("no bytes");
    inflatePrime(&inflater_, span.bits, std::to_integer<int>(rest_[0]) >> (8 - span.bits));
    rest_ = rest_.subspan(1);
    return OkStatus();
  }

  // Fills `out` as far as the span's bytes go. `made` is less than all of it only at the end of the last member.
  Status Inflate(MutableByteSpan out, size_t& made) {
    made = 0;
    while (made < out.size() && !ended_) {
      inflater_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest_.data()));
      inflater_.avail_in = Bounded(rest_.size());
      inflater_.next_out = reinterpret_cast<Bytef*>(out.data() + made);
      inflater_.avail_out = Bounded(out.size() - made);
      const uInt had_in = inflater_.avail_in;
      const uInt had_out = inflater_.avail_out;
      const int outcome = inflate(&inflater_, Z_NO_FLUSH);
      rest_ = rest_.subspan(had_in - inflater_.avail_in);
      made += had_out - inflater_.avail_out;
      if (outcome == Z_STREAM_END) {
        SOCI_RETURN_IF_ERROR(NextMember());
      } else if (outcome != Z_OK) {
        return Damaged(outcome == Z_BUF_ERROR ? "its bytes end too early" : "damaged");
      }
    }
    return OkStatus();
  }

 private:
  Status NextMember() {
    // The span may have begun inside a zlib stream, which can only be the layer's last member; its trailer is shorter.
    if (rest_.size() == MemberTrailerSize(MemberKind::kZlib)) kind_ = MemberKind::kZlib;
    const size_t trailer = MemberTrailerSize(kind_);
    if (rest_.size() < trailer) return Damaged("trailer cut short");
    rest_ = rest_.subspan(trailer);
    if (rest_.empty()) {
      ended_ = true;
      return OkStatus();
    }
    const Result<MemberHeader> header = ParseMemberHeader(rest_);
    if (!header.ok()) return Damaged(Message(header.status()));
    if (header->size == 0) return Damaged("member header cut short");
    kind_ = header->kind;
    rest_ = rest_.subspan(header->size);
    inflateReset2(&inflater_, -MAX_WBITS);
    return OkStatus();
  }

  z_stream inflater_ = {};
  ByteSpan rest_;
  MemberKind kind_ = MemberKind::kGzip;
  bool ended_ = false;
};

class GzipSpanDecoder final : public SpanDecoder {
 public:
  Status Decode(const SpanExtent& span, ByteSpan window, ByteSpan compressed, MutableByteSpan out) const override {
    SpanInflater inflater;
    SOCI_RETURN_IF_ERROR(inflater.Begin(span, window, compressed));
    size_t made = 0;
    SOCI_RETURN_IF_ERROR(inflater.Inflate(out, made));
    if (made != out.size()) return Damaged(fmt::format("{} bytes where {} were promised", made, out.size()));
    return OkStatus();
  }

  Status DecodeToEnd(const SpanExtent& span, ByteSpan window, ByteSpan compressed,
                     const std::function<Status(ByteSpan)>& sink) const override {
    SpanInflater inflater;
    SOCI_RETURN_IF_ERROR(inflater.Begin(span, window, compressed));
    std::vector<std::byte> piece(kPieceSize);
    for (size_t made = piece.size(); made == piece.size();) {
      SOCI_RETURN_IF_ERROR(inflater.Inflate(piece, made));
      if (made > 0) SOCI_RETURN_IF_ERROR(sink(ByteSpan(piece).first(made)));
    }
    return OkStatus();
  }
};

class PlainSpanDecoder final : public SpanDecoder {
 public:
  Status Decode(const SpanExtent&, ByteSpan, ByteSpan compressed, MutableByteSpan out) const override {
    if (compressed.size() < out.size()) return Damaged("its bytes end too early");
    if (!out.empty()) std::memcpy(out.data(), compressed.data(), out.size());
    return OkStatus();
  }

  Status DecodeToEnd(const SpanExtent&, ByteSpan, ByteSpan compressed,
                     const std::function<Status(ByteSpan)>& sink) const override {
    return compressed.empty() ? OkStatus() : sink(compressed);
  }
};

}  // namespace

const SpanDecoder& DecoderFor(Compression compression) {
  static const GzipSpanDecoder gzip;
  static const PlainSpanDecoder plain;
  if (compression == Compression::kGzip) return gzip;
  return plain;
}

}  // namespace soci
