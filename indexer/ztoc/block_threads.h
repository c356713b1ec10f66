// Gives bytes that one thread makes, in order, to several readers, each on a thread of its own: hashing, reading and
// writing then cost no time of the thread that decodes.
//
// Holds at most a few blocks; Push waits while the slowest reader is that far behind. Push and Drain belong to one
// thread; the destructor joins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/mutex.h"
#include "indexer/base/result.h"

namespace soci {

class BlockThreads {
 public:
  // Gets all bytes, in pieces. Once one has refused, no reader gets more.
  using Reader = std::function<Status(ByteSpan)>;

  explicit BlockThreads(std::vector<Reader> readers);
  ~BlockThreads();
  BlockThreads(const BlockThreads&) = delete;
  BlockThreads& operator=(const BlockThreads&) = delete;

  // The bytes are copied. Why a reader refused, some time after the bytes that are at fault.
  Status Push(ByteSpan bytes);
  // Waits until everything pushed was read.
  Status Drain();

 private:
  void Hand();
  void Run(size_t reader);
  uint64_t ReadByAll() const SOCI_REQUIRES(mutex_);

  const std::vector<Reader> readers_;
  // Block n lies at n modulo their number. Those that were handed are the readers', the next one is being filled.
  std::vector<ByteBuffer> blocks_;
  bool filling_ = false;  // the next one is known to be free

  Mutex mutex_;  // a leaf
  CondVar changed_;
  uint64_t handed_ SOCI_GUARDED_BY(mutex_) = 0;
  std::vector<uint64_t> read_ SOCI_GUARDED_BY(mutex_);  // by each reader
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
  Status refusal_ SOCI_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace soci
