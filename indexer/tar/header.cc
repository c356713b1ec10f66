#include "indexer/tar/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "indexer/tar/number.h"

namespace soci::tar {
namespace {

enum class Format { kV7, kStar, kUstar, kGnu };

struct Field {
  size_t offset;
  size_t size;
};

constexpr Field kName{0, 100}, kMode{100, 8}, kUid{108, 8}, kGid{116, 8}, kSize{124, 12}, kMtime{136, 12};
constexpr Field kChecksum{148, 8}, kLinkName{157, 100}, kMagic{257, 6}, kVersion{263, 2}, kUname{265, 32};
constexpr Field kGname{297, 32}, kMajor{329, 8}, kMinor{337, 8}, kUstarPrefix{345, 155}, kStarPrefix{345, 131};
constexpr Field kGnuAtime{345, 12}, kGnuCtime{357, 12}, kStarAtime{476, 12}, kStarCtime{488, 12}, kStarTrailer{508, 4};
constexpr size_t kTypeOffset = 156;

std::string_view Of(std::string_view block, Field field) { return block.substr(field.offset, field.size); }

// Old tars summed signed bytes; both sums count.
bool HasRightChecksum(std::string_view block) {
  int64_t as_unsigned = 0;
  int64_t as_signed = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    const bool in_checksum = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.size;
    const char byte = in_checksum ? ' ' : block[i];
    as_unsigned += static_cast<uint8_t>(byte);
    as_signed += static_cast<int8_t>(byte);
  }
  const std::optional<int64_t> recorded = ParseOctal(Of(block, kChecksum));
  return recorded && (*recorded == as_unsigned || *recorded == as_signed);
}

Format FormatOf(std::string_view block) {
  using namespace std::string_view_literals;
  const std::string_view magic = Of(block, kMagic);
  if (magic == "ustar\0"sv) return Of(block, kStarTrailer) == "tar\0"sv ? Format::kStar : Format::kUstar;
  if (magic == "ustar "sv && Of(block, kVersion) == " \0"sv) return Format::kGnu;
  return Format::kV7;
}

class BlockParser {
 public:
  explicit BlockParser(std::string_view block) : block_(block) {}

  std::string Text(Field field) const { return std::string(FieldText(Of(block_, field))); }

  int64_t Number(Field field, std::string_view name) {
    const std::optional<int64_t> number = ParseNumeric(Of(block_, field));
    if (!number && bad_field_.empty()) bad_field_ = name;
    return number.value_or(0);
  }

  bool IsNumber(Field field) const { return ParseNumeric(Of(block_, field)).has_value(); }
  bool StartsWithNul(Field field) const { return block_[field.offset] == '\0'; }
  std::string_view bad_field() const { return bad_field_; }

 private:
  std::string_view block_;
  std::string_view bad_field_;
};

// Writers once put the ustar prefix where GNU has its times. It is taken for a prefix when it cannot be two times.
std::string GnuPrefix(const BlockParser& parser) {
  const bool is_times = (parser.StartsWithNul(kGnuAtime) || parser.IsNumber(kGnuAtime)) &&
                        (parser.StartsWithNul(kGnuCtime) || parser.IsNumber(kGnuCtime));
  if (is_times) return {};
  std::string prefix = parser.Text(kUstarPrefix);
  const bool is_ascii =
      std::all_of(prefix.begin(), prefix.end(), [](char byte) { return static_cast<uint8_t>(byte) < 0x80; });
  return is_ascii ? prefix : std::string();
}

std::string PrefixOf(Format format, BlockParser& parser) {
  switch (format) {
    case Format::kUstar:
      return parser.Text(kUstarPrefix);
    case Format::kStar:
      parser.Number(kStarAtime, "atime");
      parser.Number(kStarCtime, "ctime");
      return parser.Text(kStarPrefix);
    case Format::kGnu:
      return GnuPrefix(parser);
    case Format::kV7:
      break;
  }
  return {};
}

}  // namespace

Result<Header> ParseHeaderBlock(ByteSpan bytes) {
  const std::string_view block = AsText(bytes);
  if (block.size() != kBlockSize) return absl::InternalError("a tar header is one block");
  if (!HasRightChecksum(block)) return absl::InvalidArgumentError("tar header invalid: wrong checksum");

  BlockParser parser(block);
  Header header;
  header.type = block[kTypeOffset];
  Entry& entry = header.entry;
  entry.name = parser.Text(kName);
  entry.link_name = parser.Text(kLinkName);
  entry.size = parser.Number(kSize, "size");
  entry.mode = parser.Number(kMode, "mode");
  entry.uid = parser.Number(kUid, "uid");
  entry.gid = parser.Number(kGid, "gid");
  entry.mtime_seconds = parser.Number(kMtime, "mtime");
  const Format format = FormatOf(block);
  if (format != Format::kV7) {
    entry.uname = parser.Text(kUname);
    entry.gname = parser.Text(kGname);
    entry.device_major = parser.Number(kMajor, "devmajor");
    entry.device_minor = parser.Number(kMinor, "devminor");
    const std::string prefix = PrefixOf(format, parser);
    if (!prefix.empty()) entry.name = prefix + "/" + entry.name;
  }
  if (!parser.bad_field().empty()) {
    return absl::InvalidArgumentError(
        fmt::format("tar header invalid: field {} of \"{}\" is no number", parser.bad_field(), entry.name));
  }
  return header;
}

bool IsHeaderOnly(char type) { return type >= '1' && type <= '6'; }

bool IsHeaderOnly(EntryType type) { return type != EntryType::kRegular; }

std::string_view FieldText(std::string_view field) { return field.substr(0, field.find('\0')); }

}  // namespace soci::tar
