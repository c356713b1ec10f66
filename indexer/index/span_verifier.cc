#include "indexer/index/span_verifier.h"

#include <fmt/format.h>

#include <algorithm>

#include "indexer/base/units.h"
#include "indexer/codec/span_decoder.h"

namespace soci {
namespace {

// A span is decoded in memory. Compressors that never end a block make one of the whole layer, which no lazy reader
// could use.
constexpr uint64_t kMaxSpan = 1_GiB;

}  // namespace

SpanVerifier::SpanVerifier(const Ztoc& ztoc, LayerFaults& faults)
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
  const uint64_t size = span.uncompressed.end - span.uncompressed.begin;
  if (size > kMaxSpan) {
    faults_.Add(fmt::format("span {}: {} bytes are too many to decode at once", id, size));
    return;
  }
  ByteBuffer tar(size);
  const bool has_window = id < ztoc_.windows.size();
  const ByteSpan window = has_window ? ByteSpan(ztoc_.windows[id]) : ByteSpan();
  const Status status = DecoderFor(ztoc_.compression).Decode(span, window, compressed, tar);
  if (status.ok()) {
    decoded_[id] = oci::Digest::Of(tar);
  } else {
    faults_.Add(fmt::format("span {}: {}", id, Message(status)));
  }
}

}  // namespace soci
