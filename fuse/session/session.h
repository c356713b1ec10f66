// One connection to the kernel: a layer, the descriptor its requests come through, and libfuse's state for it.
//
// Several threads may serve at once. Reads are answered whenever the layer has the bytes, from any thread; each of them
// keeps the session alive, so a late answer is harmless. Nothing is remembered that a successor would miss: a node's
// number and a directory's offset come from the layer table alone, and every request bears being executed twice.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>

#include "fuse/layer/layer_reader.h"
#include "fuse/session/kernel_io.h"
#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

struct fuse_buf;
struct fuse_session;

namespace soci {

struct SessionOptions {
  // How long the kernel may trust what it was told, missing names too. A layer never changes.
  std::chrono::seconds cache_time = std::chrono::hours(24);
  // Answer open with ENOSYS, so that the kernel never asks again: 31k -> 135k open+read+close per second with small
  // files. Excludes passthrough.
  bool never_open = true;
  // Background requests (read-ahead) in flight before the kernel holds them back; its own 12 starve a slow network.
  unsigned max_background = 128;
};

// A thread's room for one request; all sessions share it in turn.
class RequestBuffer {
 public:
  RequestBuffer();
  ~RequestBuffer();
  fuse_buf* get() { return buffer_.get(); }

 private:
  std::unique_ptr<fuse_buf> buffer_;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  enum class Turn {
    kServed,   // one request; there may be more
    kNothing,  // none waits (or none can be taken just now)
    kEnded,    // the connection is gone; nothing will ever come
  };

  // The layer outlives every ServeOne. `device` is non-blocking.
  static Result<std::shared_ptr<Session>> Make(LayerReader& layer, const SessionOptions& options, UniqueFd device,
                                               InitExchange init);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int device() const;
  LayerReader& layer() { return layer_; }
  const SessionOptions& options() const { return options_; }
  InitExchange& init() { return init_; }

  // Takes one request and calls the layer for it.
  Turn ServeOne(RequestBuffer& buffer);

  // Counts reads that are not answered yet.
  void BeginRead();
  void EndRead();
  // False if some read is still not answered at the deadline.
  bool WaitForReads(std::chrono::steady_clock::time_point deadline);

 private:
  Session(LayerReader& layer, const SessionOptions& options, InitExchange init);

  LayerReader& layer_;
  const SessionOptions options_;
  InitExchange init_;
  fuse_session* fuse_ = nullptr;  // owned; it closes the descriptor

  Mutex mutex_;  // a leaf
  CondVar reads_ended_;
  int reads_ SOCI_GUARDED_BY(mutex_) = 0;
};

}  // namespace soci
