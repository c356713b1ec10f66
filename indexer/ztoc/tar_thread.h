// Hashes a layer's tar and reads its members on threads of their own, beside the thread that decodes: each of the three
// costs about the same.
//
// Called from one thread; the destructor joins.
#pragma once

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/oci/digest.h"
#include "indexer/ztoc/block_threads.h"
#include "indexer/ztoc/toc_collector.h"

namespace soci {

class TarThread {
 public:
  // `observer` may be null; it is called on one of the threads.
  explicit TarThread(TarObserver* observer = nullptr);

  // The next bytes of the tar; they are copied. Why the tar was refused, some time after the bytes that are at fault.
  Status Push(ByteSpan bytes) { return blocks_.Push(bytes); }
  // Waits until everything pushed was read.
  Status Drain() { return blocks_.Drain(); }
  // No more bytes will come. Then, and after Drain, the results may be taken.
  Status Finish();

  TocCollector& toc() { return toc_; }
  oci::DiffId TakeDiffId() { return oci::DiffId(diff_id_.Finish()); }

 private:
  // The threads', while there are blocks for them.
  TocCollector toc_;
  oci::Hasher diff_id_;
  BlockThreads blocks_;  // last: it uses the rest
};

}  // namespace soci
