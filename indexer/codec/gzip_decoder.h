// Decodes a gzip stream of any number of members from its first byte to its last, and tells where decoding could start
// again: the checkpoints that zTOCs hold.
//
// Pulls compressed bytes from a stream and gives decoded bytes out in pieces; memory is a few hundred KiB whatever the
// stream does. Every checksum and length is verified, and bytes after the last member are an error. One thread at a
// time.
#pragma once

#include <cstdint>
#include <memory>

#include "indexer/base/byte_stream.h"
#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"
#include "indexer/codec/gzip_header.h"

namespace soci {

class GzipDecoder {
 public:
  // Told what is met on the way, in the stream's order. A status that is not ok ends the decoding.
  class Observer {
   public:
    virtual ~Observer() = default;
    // The stream's bytes, each once; those in front of a checkpoint come before it.
    virtual Status OnCompressed(ByteSpan bytes) = 0;
    // A block starts here, the first since the checkpoint before that is more than a span away from it. `window` holds
    // the kWindowSize bytes in front of it.
    virtual Status OnCheckpoint(const Checkpoint& checkpoint, ByteSpan window) = 0;
    // A member's data begins. All output of the members before it has been given out.
    virtual Status OnMember(MemberKind kind) = 0;
  };

  // Without an observer no checkpoint is looked for. Borrows both.
  explicit GzipDecoder(ByteStream& compressed, uint64_t span_size = 0, Observer* observer = nullptr);
  ~GzipDecoder();

  // The next decoded bytes, valid until the next call; none at the end of the stream. kInvalidArgument, saying what and
  // where, for a stream that is damaged, cut short or followed by other bytes; errors of the source as they are.
  Result<ByteSpan> Next();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace soci
