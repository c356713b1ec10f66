// Push reader: bytes of a tar in, members with their offsets out. Reads what Go's archive/tar reads and refuses what it
// refuses, because zTOCs are defined by it.
//
// Memory is bounded by one member's headers (1 MiB of PAX or GNU long-name data). One thread at a time.
#pragma once

#include <functional>
#include <memory>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/tar/entry.h"

namespace soci::tar {

class Reader {
 public:
  // Called once per member, when its headers are complete and before its data. A status that is not ok ends the
  // reading.
  using OnEntry = std::function<Status(const Entry&)>;

  explicit Reader(OnEntry on_entry);
  ~Reader();

  // The next bytes, in any portions. kInvalidArgument for a malformed archive or a member type that cannot be indexed
  // (the message names the member and the reason). Bytes after the end of the archive are ignored.
  Status Push(ByteSpan bytes);

  // No more bytes will come. kInvalidArgument if a member is cut short.
  Status Finish();

  // True once both zero blocks, or a physical end, were seen.
  bool at_end() const;

  // Position of the reader: after Finish, the end of the archive as zTOCs record it (just after the second zero block,
  // or the physical end).
  uint64_t position() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Parses the header blocks of one member ([entry.header.begin, entry.header.end) of the tar, exactly). `header_begin`
// is where they lie in the tar.
Result<Entry> ParseHeader(ByteSpan blocks, uint64_t header_begin);

}  // namespace soci::tar
