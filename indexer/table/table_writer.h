// Puts a layer table's bytes together: records are appended to sections, then everything is laid out and checksummed.
// Used once, by one thread.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "indexer/table/table_format.h"

namespace soci::table {

class TableWriter {
 public:
  template <typename Record>
  void Append(Section section, const Record& record) {
    static_assert(std::is_trivially_copyable_v<Record>);
    at(section).append(reinterpret_cast<const char*>(&record), sizeof record);
  }

  // Puts `bytes` into a pool; returns where they are in it.
  uint64_t Store(Section pool, std::string_view bytes) {
    const uint64_t position = at(pool).size();
    at(pool).append(bytes);
    return position;
  }

  // Number of records in a section.
  template <typename Record>
  uint64_t Count(Section section) const {
    return sections_[static_cast<size_t>(section)].size() / sizeof(Record);
  }

  // The whole table. `header` has everything but magic, sizes and checksums.
  std::string Finish(FileHeader header);

 private:
  std::string& at(Section section) { return sections_[static_cast<size_t>(section)]; }

  std::array<std::string, kSectionCount> sections_;
};

}  // namespace soci::table
