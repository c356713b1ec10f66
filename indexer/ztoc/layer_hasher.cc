#include "indexer/ztoc/layer_hasher.h"

#include <optional>
#include <utility>

namespace soci {

LayerHasher::LayerHasher() : blocks_({[this](ByteSpan bytes) { return Hash(bytes); }}) {}

Status LayerHasher::OnCompressed(ByteSpan bytes) {
  told_ += bytes.size();
  return blocks_.Push(bytes);
}

// The bytes after it are pushed later, so the thread finds the mark before it comes to them.
void LayerHasher::OnCheckpoint(const Checkpoint& checkpoint) {
  MutexLock lock(mutex_);
  marks_.push_back({told_, checkpoint});
}

Status LayerHasher::Hash(ByteSpan bytes) {
  layer_.Update(bytes);
  while (true) {
    std::optional<Mark> mark;
    {
      MutexLock lock(mutex_);
      if (!marks_.empty() && marks_.front().position < hashed_ + bytes.size()) {
        mark = marks_.front();
        marks_.pop_front();
      }
    }
    const size_t before = mark ? static_cast<size_t>(mark->position - hashed_) : bytes.size();
    spans_.OnCompressed(bytes.first(before));
    hashed_ += before;
    bytes = bytes.subspan(before);
    if (!mark) return OkStatus();
    spans_.OnCheckpoint(mark->checkpoint);
  }
}

Result<LayerHasher::Digests> LayerHasher::Finish() {
  SOCI_RETURN_IF_ERROR(blocks_.Drain());
  MutexLock lock(mutex_);
  for (const Mark& mark : marks_) spans_.OnCheckpoint(mark.checkpoint);  // at the very end
  spans_.Finish();
  return Digests{oci::LayerDigest(layer_.Finish()), spans_.TakeDigests()};
}

}  // namespace soci
