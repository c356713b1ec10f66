#include "indexer/tar/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "indexer/tar/header.h"
#include "indexer/tar/pax.h"
#include "indexer/tar/sparse.h"

namespace soci::tar {
namespace {

constexpr uint64_t kMaxMetaSize = 1 << 20;  // of an extended header, a long name or a sparse map

bool IsZero(std::string_view block) {
  return std::all_of(block.begin(), block.end(), [](char byte) { return byte == '\0'; });
}

std::string Named(const Entry& entry) { return fmt::format("\"{}\"", entry.name); }

std::string_view NameOfType(char type) {
  switch (type) {
    case kTypePaxGlobalHeader:
      return "PAX global header";
    case 'S':
      return "GNU sparse file";
    case '7':
      return "contiguous file";
    case 'V':
      return "GNU volume label";
    case 'D':
      return "GNU dump directory";
    default:
      return "unknown";
  }
}

Status Unsupported(char type, const Entry& entry) {
  return absl::InvalidArgumentError(fmt::format("member type not supported: {} (0x{:02x}) {}", NameOfType(type),
                                                static_cast<uint8_t>(type), Named(entry)));
}

std::optional<EntryType> TypeOf(char type, const std::string& name) {
  switch (type) {
    case '\0':  // v7: a directory is known by its name
      return name.ends_with('/') ? EntryType::kDirectory : EntryType::kRegular;
    case '0':
      return EntryType::kRegular;
    case '1':
      return EntryType::kHardLink;
    case '2':
      return EntryType::kSymlink;
    case '3':
      return EntryType::kCharDevice;
    case '4':
      return EntryType::kBlockDevice;
    case '5':
      return EntryType::kDirectory;
    case '6':
      return EntryType::kFifo;
    default:
      return std::nullopt;
  }
}

}  // namespace

// What the next bytes are. Blocks and meta data are gathered in `gathered`; data is only counted.
struct Reader::State {
  enum class Phase { kHeader, kMeta, kSparseMap, kData, kPadding, kSecondZeroBlock, kEnd };

  explicit State(OnEntry callback) : on_entry(std::move(callback)) {}

  Status Push(ByteSpan bytes);
  Status Finish();

  // Each handles what was gathered completely and sets the next phase.
  Status HandleHeader();
  Status HandleMeta();
  Status HandleMember(Header header);
  Status HandleSparseMap();
  Status Emit();

  void Gather(Phase next, uint64_t size) {
    phase = next;
    wanted = size;
    gathered.clear();
  }
  void Skip(Phase next, uint64_t size) {
    phase = next;
    wanted = size;
  }
  Status Complete();  // of the current phase, all wanted bytes being there

  OnEntry on_entry;
  Phase phase = Phase::kHeader;
  uint64_t position = 0;
  uint64_t wanted = kBlockSize;  // bytes still missing from the current phase
  uint64_t padding = 0;          // after the current data
  std::string gathered;
  bool any_member = false;
  Status failure;

  // Of the member whose headers are being read.
  std::optional<uint64_t> header_begin;
  std::optional<PaxRecords> pax;
  std::string long_name;
  std::string long_link;
  char meta_type = 0;
  Entry entry;
  uint64_t physical_size = 0;  // of its data
};

Status Reader::State::Push(ByteSpan bytes) {
  if (!failure.ok()) return failure;
  while (phase != Phase::kEnd) {
    if (wanted == 0) {
      failure = Complete();
      SOCI_RETURN_IF_ERROR(failure);
      continue;
    }
    if (bytes.empty()) break;
    const size_t count = static_cast<size_t>(std::min<uint64_t>(wanted, bytes.size()));
    if (phase != Phase::kData && phase != Phase::kPadding) gathered += AsText(bytes.first(count));
    bytes = bytes.subspan(count);
    wanted -= count;
    position += count;
  }
  return OkStatus();
}

Status Reader::State::Complete() {
  switch (phase) {
    case Phase::kHeader:
      return HandleHeader();
    case Phase::kMeta:
      return HandleMeta();
    case Phase::kSparseMap:
      return HandleSparseMap();
    case Phase::kData:
      Skip(Phase::kPadding, padding);
      return OkStatus();
    case Phase::kPadding:
      Gather(Phase::kHeader, kBlockSize);
      return OkStatus();
    case Phase::kSecondZeroBlock:
      if (!IsZero(gathered)) return absl::InvalidArgumentError("tar header invalid: one zero block, then more data");
      phase = Phase::kEnd;
      return OkStatus();
    case Phase::kEnd:
      break;
  }
  return OkStatus();
}

Status Reader::State::HandleHeader() {
  if (IsZero(gathered)) {
    Gather(Phase::kSecondZeroBlock, kBlockSize);
    return OkStatus();
  }
  if (!header_begin) header_begin = position - kBlockSize;
  Result<Header> header = ParseHeaderBlock(AsBytes(gathered));
  if (!header.ok()) {
    if (!any_member && position == kBlockSize) {
      return absl::InvalidArgumentError(fmt::format("not a tar archive ({})", Message(header.status())));
    }
    return Annotate(header.status(), fmt::format("at {} of the tar", position - kBlockSize));
  }
  any_member = true;
  const Entry& found = header->entry;
  const char type = header->type;
  const bool is_meta = type == kTypePaxHeader || type == kTypeGnuLongName || type == kTypeGnuLongLink;
  if (found.size < 0 && !IsHeaderOnly(type)) {
    return absl::InvalidArgumentError(fmt::format("tar header invalid: {} has a negative size", Named(found)));
  }
  if (!is_meta) return HandleMember(*std::move(header));
  if (static_cast<uint64_t>(found.size) > kMaxMetaSize) {
    return absl::InvalidArgumentError(
        fmt::format("tar header invalid: extended header of {} bytes is too large", found.size));
  }
  meta_type = type;
  padding = RoundToBlock(static_cast<uint64_t>(found.size)) - static_cast<uint64_t>(found.size);
  Gather(Phase::kMeta, static_cast<uint64_t>(found.size));
  return OkStatus();
}

Status Reader::State::HandleMeta() {
  if (meta_type == kTypePaxHeader) {
    SOCI_ASSIGN_OR_RETURN(pax, ParsePaxRecords(gathered));
  } else {
    (meta_type == kTypeGnuLongName ? long_name : long_link) = FieldText(gathered);
  }
  Skip(Phase::kPadding, padding);
  return OkStatus();
}

Status Reader::State::HandleMember(Header header) {
  entry = std::move(header.entry);
  if (pax) SOCI_RETURN_IF_ERROR(ApplyPaxRecords(*std::exchange(pax, std::nullopt), entry));
  if (!long_name.empty()) entry.name = std::exchange(long_name, {});
  if (!long_link.empty()) entry.link_name = std::exchange(long_link, {});
  const std::optional<EntryType> type = TypeOf(header.type, entry.name);
  if (!type) return Unsupported(header.type, entry);
  entry.type = *type;
  entry.header.begin = *std::exchange(header_begin, std::nullopt);
  const bool has_data = !IsHeaderOnly(entry.type);
  if (has_data && entry.size < 0) {
    return absl::InvalidArgumentError(fmt::format("tar header invalid: {} has a negative size", Named(entry)));
  }
  physical_size = has_data ? static_cast<uint64_t>(entry.size) : 0;
  padding = RoundToBlock(physical_size) - physical_size;

  const SparseFormat sparse = SparseFormatOf(entry.pax);
  if (sparse == SparseFormat::kNone) return Emit();
  if (!has_data)
    return absl::InvalidArgumentError(fmt::format("tar header invalid: {} cannot be sparse", Named(entry)));
  if (sparse == SparseFormat::kMapInRecords) return HandleSparseMap();
  Gather(Phase::kSparseMap, kBlockSize);
  return OkStatus();
}

// A sparse member bears another name and its logical size. With its map in the data, the data begins after the map.
Status Reader::State::HandleSparseMap() {
  std::vector<SparseRange> map;
  if (phase != Phase::kSparseMap) {
    SOCI_ASSIGN_OR_RETURN(map, SparseMapOfRecords(entry.pax));
  } else {
    if (physical_size < gathered.size()) return absl::InvalidArgumentError("tar truncated: sparse map cut short");
    SOCI_ASSIGN_OR_RETURN(std::optional<std::vector<SparseRange>> complete, SparseMapOfBlocks(gathered));
    if (!complete) {
      if (gathered.size() + kBlockSize > kMaxMetaSize) {
        return absl::InvalidArgumentError("tar header invalid: sparse map is too large");
      }
      wanted = kBlockSize;  // one more
      return OkStatus();
    }
    map = *std::move(complete);
    physical_size -= gathered.size();
  }
  SOCI_RETURN_IF_ERROR(ApplySparseRecords(entry));
  if (!IsValidSparseMap(map, entry.size)) {
    return absl::InvalidArgumentError(fmt::format("tar header invalid: malformed sparse map of {}", Named(entry)));
  }
  return Emit();
}

Status Reader::State::Emit() {
  entry.header.end = position;
  entry.content = {position, position + (IsHeaderOnly(entry.type) ? 0 : static_cast<uint64_t>(entry.size))};
  Skip(Phase::kData, physical_size);
  return on_entry(entry);
}

Status Reader::State::Finish() {
  SOCI_RETURN_IF_ERROR(failure);
  switch (phase) {
    case Phase::kEnd:
    case Phase::kPadding:  // the last member's padding may be missing
      break;
    case Phase::kHeader:
    case Phase::kSecondZeroBlock:
      if (!gathered.empty()) failure = absl::InvalidArgumentError("tar truncated: cut within a header");
      break;
    case Phase::kMeta:
    case Phase::kSparseMap:
      failure = absl::InvalidArgumentError("tar truncated: cut within an extended header");
      break;
    case Phase::kData:
      failure = absl::InvalidArgumentError(fmt::format("tar truncated: cut within {}", Named(entry)));
      break;
  }
  if (failure.ok()) phase = Phase::kEnd;
  return failure;
}

Reader::Reader(OnEntry on_entry) : state_(std::make_unique<State>(std::move(on_entry))) {}
Reader::~Reader() = default;

Status Reader::Push(ByteSpan bytes) { return state_->Push(bytes); }
Status Reader::Finish() { return state_->Finish(); }
bool Reader::at_end() const { return state_->phase == State::Phase::kEnd; }
uint64_t Reader::position() const { return state_->position; }

Result<Entry> ParseHeader(ByteSpan blocks, uint64_t header_begin) {
  std::optional<Entry> found;
  Reader reader([&found](const Entry& entry) {
    if (found) return absl::InvalidArgumentError("tar header invalid: more than one member");
    found = entry;
    return OkStatus();
  });
  SOCI_RETURN_IF_ERROR(reader.Push(blocks));
  if (!found) return absl::InvalidArgumentError("tar header invalid: no member");
  if (found->header.size() != blocks.size()) {
    return absl::InvalidArgumentError(
        fmt::format("tar header invalid: {} of {} bytes used", found->header.size(), blocks.size()));
  }
  found->header = {header_begin, header_begin + blocks.size()};
  found->content = {found->header.end, found->header.end + found->content.size()};
  return *std::move(found);
}

}  // namespace soci::tar
