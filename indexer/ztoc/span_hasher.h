// Digests of a layer's spans, from compressed bytes and checkpoints in the order in which a decoder tells them. One
// thread at a time.
#pragma once

#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/codec/checkpoint.h"
#include "indexer/oci/digest.h"

namespace soci {

class SpanHasher {
 public:
  void OnCompressed(ByteSpan bytes) {
    if (bytes.empty()) return;
    if (started_) hasher_.Update(bytes);
    last_ = bytes.back();
  }

  // A span begins after the bytes told so far, or with the last of them when a part of its bits belongs to the span:
  // two neighbours then share that byte.
  void OnCheckpoint(const Checkpoint& checkpoint) {
    Finish();
    started_ = true;
    if (checkpoint.bits != 0) hasher_.Update({&last_, 1});
  }

  void Finish() {
    if (started_) digests_.push_back(hasher_.Finish());
    started_ = false;
  }

  std::vector<oci::Digest> TakeDigests() { return std::move(digests_); }

 private:
  oci::Hasher hasher_;
  bool started_ = false;  // bytes before the first checkpoint belong to no span
  std::byte last_{};
  std::vector<oci::Digest> digests_;
};

}  // namespace soci
