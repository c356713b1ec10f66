// Appends members to a tar file that is being written. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "indexer/base/byte_source.h"
#include "indexer/base/result.h"

namespace soci {

class ArchiveWriter {
 public:
  // Writes to `fd` from its offset 0 on; `name` is for messages.
  ArchiveWriter(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  Status AppendFile(const std::string& name, std::string_view content);
  // A file whose content is `size` bytes of `from`.
  Status AppendFile(const std::string& name, const ByteSource& from, uint64_t begin, uint64_t size);
  // Bytes as they are, whole members.
  Status Copy(const ByteSource& from, uint64_t begin, uint64_t end);
  Status Finish();

 private:
  Status Append(ByteSpan bytes);
  Status Pad();

  const int fd_;
  const std::string name_;
  uint64_t position_ = 0;
};

}  // namespace soci
