// A layer as files: what a filesystem asks, answered from the layer table, the disk and the network. No libfuse here.
//
// Any thread; nothing blocks. Errors carry the errno a filesystem would give (StatusErrno): ENOENT, ESTALE for an inode
// that does not exist, EIO for bytes that cannot be had.
#pragma once

#include <cstdint>
#include <functional>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/table/layer_table.h"

namespace soci {

class LayerReader {
 public:
  // Receives the bytes (fewer than asked only at the end of the file), valid during the call, in memory that is
  // resident.
  using ReadReply = std::function<void(Result<ByteSpan>)>;

  virtual ~LayerReader() = default;

  // Names, attributes, listings, xattrs: plain look-ups in the table.
  virtual const LayerTable& table() const = 0;

  // Calls back exactly once: on this thread if the bytes are at hand, else from another.
  virtual void Read(InodeId file, uint64_t offset, size_t size, ReadReply reply) = 0;
};

}  // namespace soci
