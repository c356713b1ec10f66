// A READ that the kernel waits for, answered once: by Reply, or with EIO if whoever held it dropped it.
//
// Keeps its session alive until then. Any thread.
#pragma once

#include <cstddef>
#include <memory>

#include "fuse/session/session.h"
#include "indexer/base/bytes.h"
#include "indexer/base/result.h"

struct fuse_req;

namespace soci {

class PendingRead {
 public:
  PendingRead(std::shared_ptr<Session> session, fuse_req* request, InodeId file, size_t size);
  ~PendingRead();
  PendingRead(const PendingRead&) = delete;
  PendingRead& operator=(const PendingRead&) = delete;

  void Reply(const Result<ByteSpan>& bytes);

 private:
  std::shared_ptr<Session> session_;
  fuse_req* request_;  // nothing once answered
  InodeId file_;
  size_t size_;
};

}  // namespace soci
