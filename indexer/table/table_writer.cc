#include "indexer/table/table_writer.h"

#include "indexer/base/crc32c.h"

namespace soci::table {

std::string TableWriter::Finish(FileHeader header) {
  header.magic = kMagic;
  header.format_version = kFormatVersion;
  uint64_t position = sizeof(FileHeader);
  for (size_t i = 0; i < kSectionCount; ++i) {
    const bool checked_apart = i == static_cast<size_t>(Section::kWindows);
    header.sections[i] = {position, sections_[i].size(), checked_apart ? 0 : Crc32c(AsBytes(sections_[i])), 0};
    position += (sections_[i].size() + 7) / 8 * 8;
  }
  header.file_size = position;
  header.crc32c = Crc32c({reinterpret_cast<const std::byte*>(&header), offsetof(FileHeader, crc32c)});
  std::string table;
  table.reserve(position);
  table.append(reinterpret_cast<const char*>(&header), sizeof header);
  for (std::string& section : sections_) {
    table.append(section);
    table.resize((table.size() + 7) / 8 * 8);
    std::string().swap(section);
  }
  return table;
}

}  // namespace soci::table
