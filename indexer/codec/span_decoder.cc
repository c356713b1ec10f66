#include "indexer/codec/span_decoder.h"

#include <cstring>

#include "indexer/codec/span_inflater.h"

namespace soci {
namespace {

// One per thread: its tables and buffers are worth keeping between spans.
SpanInflater& Inflater() {
  thread_local SpanInflater inflater;
  return inflater;
}

class GzipSpanDecoder final : public SpanDecoder {
 public:
  Status Decode(const SpanExtent& span, ByteSpan window, ByteSpan compressed, MutableByteSpan out) const override {
    SOCI_RETURN_IF_ERROR(Inflater().Begin(span, window, compressed));
    return Inflater().Fill(out);
  }

  Status DecodeToEnd(const SpanExtent& span, ByteSpan window, ByteSpan compressed,
                     const std::function<Status(ByteSpan)>& sink) const override {
    SpanInflater inflater;  // not the thread's own: the sink may decode, too
    SOCI_RETURN_IF_ERROR(inflater.Begin(span, window, compressed));
    return inflater.Drain(sink);
  }
};

class PlainSpanDecoder final : public SpanDecoder {
 public:
  Status Decode(const SpanExtent&, ByteSpan, ByteSpan compressed, MutableByteSpan out) const override {
    if (compressed.size() < out.size()) return absl::DataLossError("span does not decode: its bytes end too early");
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
