#include "indexer/index/verify_layer.h"

#include <fmt/format.h>

#include "indexer/base/byte_stream.h"
#include "indexer/base/units.h"
#include "indexer/codec/stream_decoder.h"
#include "indexer/index/span_verifier.h"
#include "indexer/index/tar_verifier.h"

namespace soci {
namespace {

// The layer's stored bytes on their way to the decoder. A failure of the source is remembered, so that it can be told
// from the decoder's complaints.
class WatchedStream : public ByteStream {
 public:
  WatchedStream(ByteStream& inner, SpanVerifier& spans, const std::function<void(uint64_t)>& progress)
      : inner_(inner), spans_(spans), progress_(progress) {}

  Result<size_t> Read(MutableByteSpan out) override {
    Result<size_t> count = inner_.Read(out);
    if (!count.ok()) {
      failure_ = count.status();
      return count;
    }
    const ByteSpan bytes = out.first(*count);
    hasher_.Update(bytes);
    spans_.OnCompressed(bytes);
    size_ += bytes.size();
    if (progress_) progress_(size_);
    return count;
  }

  const Status& failure() const { return failure_; }
  uint64_t size() const { return size_; }
  oci::Digest Digest() { return hasher_.Finish(); }

 private:
  ByteStream& inner_;
  SpanVerifier& spans_;
  const std::function<void(uint64_t)>& progress_;
  Status failure_;
  oci::Hasher hasher_;
  uint64_t size_ = 0;
};

// Reads to the end; what the decoder says is wrong.
Status PassAll(ByteStream& tar, TarVerifier& verifier) {
  ByteBuffer buffer(256_KiB);
  for (;;) {
    SOCI_ASSIGN_OR_RETURN(const size_t count, tar.Read(buffer));
    if (count == 0) return OkStatus();
    verifier.OnTar(ByteSpan(buffer).first(count));
  }
}

void CompareSpans(const SpanVerifier& alone, const TarVerifier& in_order, LayerFaults& faults) {
  const size_t count = std::min(alone.decoded().size(), in_order.spans().size());
  for (size_t id = 0; id < count; ++id) {
    if (alone.decoded()[id] && *alone.decoded()[id] != in_order.spans()[id]) {
      faults.Add(fmt::format("span {}: decodes to other bytes than the layer holds", id));
    }
  }
}

}  // namespace

Result<LayerFaults> VerifyLayer(const ByteSource& source, const oci::Descriptor& layer, const ZtocView& ztoc,
                                const std::optional<oci::DiffId>& diff_id,
                                const std::function<void(uint64_t)>& progress, const FetchContext& context) {
  LayerFaults faults;
  if (ztoc.compressed_size != static_cast<uint64_t>(layer.size)) {
    faults.Add(fmt::format("size: {} in the index, {} in the image", ztoc.compressed_size, layer.size));
  }
  SpanVerifier spans(ztoc, faults);
  TarVerifier tar_verifier(ztoc, faults);
  const std::unique_ptr<ByteStream> bytes = MakeSourceStream(source, context);
  WatchedStream watched(*bytes, spans, progress);
  const bool gzip = ztoc.compression == Compression::kGzip;
  const std::unique_ptr<ByteStream> tar = DecodeStream(watched, gzip ? StreamFormat::kGzip : StreamFormat::kPlainTar);
  const Status decoded = PassAll(*tar, tar_verifier);
  if (!watched.failure().ok()) return watched.failure();
  if (!decoded.ok()) {
    faults.Add(fmt::format("the layer itself is damaged: {}", Message(decoded)));
    return faults;
  }
  spans.Finish();
  tar_verifier.Finish();
  CompareSpans(spans, tar_verifier, faults);
  if (const oci::Digest digest = watched.Digest(); digest != layer.digest) {
    faults.Add(fmt::format("the layer itself is damaged: its bytes have the digest {}", digest.ToString()));
  }
  if (const oci::DiffId found = tar_verifier.diff_id(); diff_id && found != *diff_id) {
    faults.Add(fmt::format("DiffID: {} in the image config, {} in the layer", diff_id->ToString(), found.ToString()));
  }
  return faults;
}

}  // namespace soci
