// Immutable bytes of known size that can be read anywhere: a file, memory, a remote blob, containerd's content.
//
// Both reads may be called from any thread at once. StartRead is the way for many reads in flight without a thread for
// each: a remote source returns at once and feeds the sink from its network thread; a local one may read and feed the
// sink before it returns, so never call it from a thread that must not block (a FUSE thread).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "indexer/base/bytes.h"
#include "indexer/base/fetch_context.h"
#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

namespace soci {

// Receives a range's bytes in order. Calls for one read never overlap; OnEnd comes exactly once, last, and after it the
// source keeps no reference. Keep both calls short: they may run on the one network thread.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // A status that is not ok ends the read; it comes back in OnEnd.
  virtual Status OnBytes(ByteSpan bytes) = 0;
  virtual void OnEnd(Status status) = 0;
};

// A read that was started. Dropping the handle does not end the read. Any thread.
class Transfer {
 public:
  virtual ~Transfer() = default;
  virtual void Pause() = 0;
  virtual void Resume() = 0;
  // OnEnd(kCancelled) follows unless the read is already over.
  virtual void Cancel() = 0;
  // The server asked to be left alone for a while, and is: asking it on another connection would not be right.
  virtual bool IsToldToWait() const { return false; }
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual uint64_t size() const = 0;

  // Fills all of `out` from `offset` on. kOutOfRange past the end; never a short read.
  virtual Status ReadAt(uint64_t offset, MutableByteSpan out, const FetchContext& context) const = 0;

  // Delivers [offset, offset + length) to the sink. The default does it by ReadAt in pieces of 256 KiB, before
  // returning.
  virtual std::shared_ptr<Transfer> StartRead(uint64_t offset, uint64_t length, const FetchContext& context,
                                              std::shared_ptr<ByteSink> sink) const;
};

// Bytes held in memory.
std::unique_ptr<ByteSource> MakeMemorySource(std::string bytes);

// An open regular file; its size is taken once.
Result<std::unique_ptr<ByteSource>> MakeFileSource(UniqueFd file, std::string name);
Result<std::unique_ptr<ByteSource>> OpenFileSource(const std::string& path);

}  // namespace soci
