#include <cstring>
#include <string>

#include "indexer/table/table_compiler.h"

namespace soci {
namespace {

void AppendNumber(std::string& text, uint64_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void AppendText(std::string& text, std::string_view part) {
  AppendNumber(text, part.size());
  text.append(part);
}

// A zTOC says times as text and has none for years that the text cannot hold; it then means the year 1.
bool HasZtocTime(int64_t seconds) {
  constexpr int64_t kYear0 = -62167219200;
  constexpr int64_t kYear10000 = 253402300800;
  return seconds >= kYear0 && seconds < kYear10000;
}
constexpr int64_t kYear1 = -62135596800;

}  // namespace

std::array<std::byte, 16> MemberFingerprint(const tar::Entry& entry) {
  constexpr std::string_view kXattrRecord = "SCHILY.xattr.";
  std::string text;
  text.reserve(256);
  AppendText(text, entry.name);
  AppendText(text, entry.link_name);
  AppendNumber(text, static_cast<uint64_t>(entry.type));
  AppendNumber(text, static_cast<uint64_t>(entry.size));
  AppendNumber(text, static_cast<uint64_t>(entry.mode));
  AppendNumber(text, static_cast<uint32_t>(entry.uid));  // a zTOC keeps no more
  AppendNumber(text, static_cast<uint32_t>(entry.gid));
  const bool timed = HasZtocTime(entry.mtime_seconds);
  AppendNumber(text, static_cast<uint64_t>(timed ? entry.mtime_seconds : kYear1));
  AppendNumber(text, timed ? entry.mtime_nanoseconds : 0);
  AppendNumber(text, static_cast<uint64_t>(entry.device_major));
  AppendNumber(text, static_cast<uint64_t>(entry.device_minor));
  for (auto record = entry.pax.lower_bound(std::string(kXattrRecord)); record != entry.pax.end(); ++record) {
    if (std::string_view(record->first).substr(0, kXattrRecord.size()) != kXattrRecord) break;
    AppendText(text, record->first);
    AppendText(text, record->second);
  }
  const oci::Digest digest = oci::Digest::Of(text);
  std::array<std::byte, 16> fingerprint;
  std::memcpy(fingerprint.data(), digest.raw().data(), fingerprint.size());
  return fingerprint;
}

}  // namespace soci
