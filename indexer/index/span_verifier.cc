#include "indexer/index/span_verifier.h"

#include <fmt/format.h>

#include <algorithm>

#include "indexer/base/units.h"
#include "indexer/codec/span_decoder.h"

namespace soci {
namespace {

// Larger ones are decoded piece by piece: compressors that never end a block make one span of the whole layer.
constexpr uint64_t kMostInMemory = 64_MiB;

// Decodes a large span as a stream and hashes it, up to its end.
Result<oci::Digest> HashLargeSpan(Compression compression, const SpanExtent& span, ByteSpan window,
                                  ByteSpan compressed) {
  oci::Hasher hasher;
  uint64_t left = span.uncompressed.size();
  const Status status = DecoderFor(compression).DecodeToEnd(span, window, compressed, [&](ByteSpan bytes) -> Status {
    const ByteSpan wanted = bytes.first(std::min<uint64_t>(left, bytes.size()));
    hasher.Update(wanted);
    left -= wanted.size();
    return left == 0 ? absl::CancelledError("the span ends here") : OkStatus();
  });
  if (left == 0) return hasher.Finish();
  return status.ok() ? absl::DataLossError("it decodes to fewer bytes than promised") : status;
}

Result<oci::Digest> HashSpan(Compression compression, const SpanExtent& span, ByteSpan window, ByteSpan compressed) {
  if (span.uncompressed.size() > kMostInMemory) return HashLargeSpan(compression, span, window, compressed);
  ByteBuffer tar(span.uncompressed.size());
  SOCI_RETURN_IF_ERROR(DecoderFor(compression).Decode(span, window, compressed, tar));
  return oci::Digest::Of(tar);
}

}  // namespace

SpanVerifier::SpanVerifier(const ZtocView& ztoc, LayerFaults& faults)
    : ztoc_(ztoc), spans_(ztoc.Spans()), faults_(faults), decoded_(spans_.size()) {}

void SpanVerifier::OnCompressed(ByteSpan bytes) {
  if (next_ == spans_.size()) return;
  pending_ += AsText(bytes);
  while (next_ < spans_.size()) {
    const CompressedRange& range = spans_[next_].compressed;
    if (range.begin > pending_begin_) {  // what is before it belongs to no span any more
      const uint64_t gone = std::min<uint64_t>(range.begin - pending_begin_, pending_.size());
      pending_.erase(0, gone);
      pending_begin_ += gone;
    }
    if (pending_begin_ + pending_.size() < range.end) return;
    VerifySpan(next_, AsBytes(pending_).subspan(range.begin - pending_begin_, range.end - range.begin));
    ++next_;
  }
  pending_ = {};
}

void SpanVerifier::Finish() {
  for (; next_ < spans_.size(); ++next_) faults_.Add(fmt::format("span {}: ends after the layer", next_));
}

void SpanVerifier::VerifySpan(size_t id, ByteSpan compressed) {
  const SpanExtent& span = spans_[id];
  if (oci::Digest::Of(compressed) != ztoc_.span_digests[id]) {
    faults_.Add(fmt::format("span {}: its bytes do not match its digest", id));
    return;
  }
  const bool has_window = id < ztoc_.windows.size();
  const ByteSpan window = has_window ? ztoc_.windows[id] : ByteSpan();
  Result<oci::Digest> decoded = HashSpan(ztoc_.compression, span, window, compressed);
  if (decoded.ok()) {
    decoded_[id] = *decoded;
  } else {
    faults_.Add(fmt::format("span {}: {}", id, Message(decoded.status())));
  }
}

}  // namespace soci
