#include "indexer/table/table_sections.h"

#include <fmt/format.h>

#include "indexer/base/crc32c.h"
#include "indexer/table/layer_table.h"

namespace soci::table {
namespace {

// A fuzzer that had to guess checksums would test nothing else.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr bool kCompareChecksums = false;
#else
constexpr bool kCompareChecksums = true;
#endif

template <typename Record>
Status View(ByteSpan bytes, const FileHeader& header, Section section, std::span<const Record>& out) {
  const SectionEntry& entry = header.sections[static_cast<size_t>(section)];
  if (entry.size % sizeof(Record) != 0) {
    return absl::InvalidArgumentError(
        fmt::format("section {} is no whole number of records", static_cast<int>(section)));
  }
  const ByteSpan view = bytes.subspan(entry.offset, entry.size);
  out = {reinterpret_cast<const Record*>(view.data()), view.size() / sizeof(Record)};
  return OkStatus();
}

Status CheckHeader(ByteSpan bytes, const FileHeader& header) {
  if (header.magic != kMagic) return absl::InvalidArgumentError("not a layer table");
  if (header.format_version != kFormatVersion || header.layout != LayerTable::kLayout) {
    return absl::FailedPreconditionError(
        fmt::format("a layer table of version {}, layout {}; this program reads {}, {}", header.format_version,
                    header.layout, kFormatVersion, LayerTable::kLayout));
  }
  if (kCompareChecksums && header.crc32c != Crc32c(bytes.first(offsetof(FileHeader, crc32c)))) {
    return absl::DataLossError("the header's checksum is wrong");
  }
  if (header.file_size != bytes.size()) {
    return absl::DataLossError(fmt::format("{} bytes long instead of {}", bytes.size(), header.file_size));
  }
  for (size_t i = 0; i < kSectionCount; ++i) {
    const SectionEntry& entry = header.sections[i];
    if (entry.offset % 8 != 0 || entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset) {
      return absl::InvalidArgumentError(fmt::format("section {} lies outside the file", i));
    }
    if (i == static_cast<size_t>(Section::kWindows) || !kCompareChecksums) continue;
    if (entry.crc32c != Crc32c(bytes.subspan(entry.offset, entry.size))) {
      return absl::DataLossError(fmt::format("the checksum of section {} is wrong", i));
    }
  }
  return OkStatus();
}

}  // namespace

Result<Sections> FindSections(ByteSpan bytes) {
  if (bytes.size() < sizeof(FileHeader)) return absl::InvalidArgumentError("too short for a layer table");
  Sections sections;
  sections.header = reinterpret_cast<const FileHeader*>(bytes.data());
  const FileHeader& header = *sections.header;
  SOCI_RETURN_IF_ERROR(CheckHeader(bytes, header));
  SOCI_RETURN_IF_ERROR(View(bytes, header, Section::kInodes, sections.inodes));
  SOCI_RETURN_IF_ERROR(View(bytes, header, Section::kChildren, sections.children));
  SOCI_RETURN_IF_ERROR(View(bytes, header, Section::kXattrs, sections.xattrs));
  SOCI_RETURN_IF_ERROR(View(bytes, header, Section::kSpans, sections.spans));
  SOCI_RETURN_IF_ERROR(View(bytes, header, Section::kContents, sections.contents));
  SOCI_RETURN_IF_ERROR(View(bytes, header, Section::kHeaders, sections.headers));
  const auto pool = [&](Section section) {
    const SectionEntry& entry = header.sections[static_cast<size_t>(section)];
    return AsText(bytes.subspan(entry.offset, entry.size));
  };
  sections.strings = pool(Section::kStrings);
  sections.windows = pool(Section::kWindows);
  return sections;
}

}  // namespace soci::table
