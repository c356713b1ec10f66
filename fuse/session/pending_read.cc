#define FUSE_USE_VERSION 312
#include "fuse/session/pending_read.h"

#include <fuse3/fuse_lowlevel.h>

#include <algorithm>
#include <utility>

#include "fuse/session/errno_of.h"
#include "indexer/base/log.h"

namespace soci {

PendingRead::PendingRead(std::shared_ptr<Session> session, fuse_req* request, InodeId file, size_t size)
    : session_(std::move(session)), request_(request), file_(file), size_(size) {
  session_->BeginRead();
}

PendingRead::~PendingRead() {
  if (request_) Reply(absl::InternalError("the layer never answered"));
  session_->EndRead();
}

void PendingRead::Reply(const Result<ByteSpan>& bytes) {
  fuse_req* request = std::exchange(request_, nullptr);
  if (!request) return;
  if (bytes.ok()) {
    // The kernel refuses an answer longer than the question.
    fuse_reply_buf(request, reinterpret_cast<const char*>(bytes->data()), std::min(bytes->size(), size_));
    return;
  }
  int error = ErrnoOf(bytes.status());
  log::Warning("a read of inode {} fails with errno {}: {}", ToNumber(file_), error, Message(bytes.status()));
  fuse_reply_err(request, error);
}

}  // namespace soci
