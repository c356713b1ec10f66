// One member of a tar, as found: nothing normalised, nothing sorted, nothing left out. A value.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "indexer/base/ranges.h"

namespace soci::tar {

enum class EntryType : uint8_t { kRegular, kHardLink, kSymlink, kCharDevice, kBlockDevice, kDirectory, kFifo };

struct Entry {
  std::string name;       // raw bytes
  std::string link_name;  // raw bytes
  EntryType type = EntryType::kRegular;
  int64_t mode = 0;  // the raw number of the mode field
  int64_t uid = 0;
  int64_t gid = 0;
  std::string uname;
  std::string gname;
  int64_t size = 0;  // the header's size field, also for members without data
  int64_t mtime_seconds = 0;
  uint32_t mtime_nanoseconds = 0;
  int64_t device_major = 0;
  int64_t device_minor = 0;
  std::map<std::string, std::string> pax;  // all PAX records of the member, keys unchanged
  UncompressedRange header;                // every block from the member's first header block to its data
  // The data: begins at header.end; empty for members without data, whatever `size` says.
  UncompressedRange content;

  bool operator==(const Entry&) const = default;
};

}  // namespace soci::tar
