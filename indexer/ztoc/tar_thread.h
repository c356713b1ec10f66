// Hashes a layer's tar and reads its members on a thread of its own, beside the thread that decodes: the two cost about
// the same.
//
// Holds at most a few blocks of tar bytes; Push waits while they are all full. Called from one thread; the destructor
// joins.
#pragma once

#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "indexer/oci/digest.h"
#include "indexer/ztoc/toc_collector.h"

namespace soci {

class TarThread {
 public:
  // `observer` may be null; it is called on the thread.
  explicit TarThread(TarObserver* observer = nullptr);
  ~TarThread();
  TarThread(const TarThread&) = delete;
  TarThread& operator=(const TarThread&) = delete;

  // The next bytes of the tar; they are copied. Why the tar was refused, some time after the bytes that are at fault.
  Status Push(ByteSpan bytes);
  // Waits until everything pushed was read.
  Status Drain();
  // No more bytes will come. Then, and after Drain, the results may be taken.
  Status Finish();

  TocCollector& toc() { return toc_; }
  oci::DiffId TakeDiffId() { return oci::DiffId(diff_id_.Finish()); }

 private:
  Status Hand();  // the block that is being filled to the thread
  void Run();

  // The thread's, while there are blocks for it.
  TocCollector toc_;
  oci::Hasher diff_id_;

  ByteBuffer filling_;

  Mutex mutex_;  // a leaf
  CondVar changed_;
  std::deque<ByteBuffer> full_ SOCI_GUARDED_BY(mutex_);
  std::vector<ByteBuffer> empty_ SOCI_GUARDED_BY(mutex_);
  bool busy_ SOCI_GUARDED_BY(mutex_) = false;
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
  Status refusal_ SOCI_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace soci
