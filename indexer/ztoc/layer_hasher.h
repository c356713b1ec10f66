// The digest of a layer as stored, and those of its spans, from its bytes and the checkpoints that a decoder finds
// between them: made on a thread of its own.
//
// Called from one thread; the destructor joins.
#pragma once

#include <deque>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"
#include "indexer/oci/digest.h"
#include "indexer/ztoc/block_threads.h"
#include "indexer/ztoc/span_hasher.h"

namespace soci {

class LayerHasher {
 public:
  LayerHasher();

  // The layer's bytes, each once, in order; those in front of a checkpoint come before it.
  Status OnCompressed(ByteSpan bytes);
  void OnCheckpoint(const Checkpoint& checkpoint);

  // No more will come; once.
  struct Digests {
    oci::LayerDigest layer;
    std::vector<oci::Digest> spans;
  };
  Result<Digests> Finish();

 private:
  Status Hash(ByteSpan bytes);

  struct Mark {
    uint64_t position = 0;  // in the layer
    Checkpoint checkpoint;
  };

  uint64_t told_ = 0;  // bytes
  Mutex mutex_;        // a leaf
  std::deque<Mark> marks_ SOCI_GUARDED_BY(mutex_);

  // The thread's, while there are blocks for it.
  uint64_t hashed_ = 0;
  oci::Hasher layer_;
  SpanHasher spans_;
  BlockThreads blocks_;  // last: it uses the rest
};

}  // namespace soci
