#include "indexer/ztoc/ztoc_entries.h"

#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "indexer/tar/header.h"
#include "indexer/tar/number.h"
#include "indexer/tar/sparse.h"
#include "indexer/ztoc/entry_type.h"
#include "indexer/ztoc/mod_time.h"
#include "proto/ztoc/ztoc_generated.h"

namespace soci {
namespace {

// The least bytes that one of these takes when it is not shared: values may not outgrow the file they came from.
constexpr uint64_t kBytesPerEntry = 64;
constexpr uint64_t kBytesPerRecord = 24;

using Files = flatbuffers::Vector<flatbuffers::Offset<fbs::FileMetadata>>;

Status Malformed(std::string_view what) { return absl::InvalidArgumentError(fmt::format("zTOC malformed: {}", what)); }

std::string Quoted(std::string_view name) { return fmt::format("{:?}", name.substr(0, 300)); }

std::string_view ViewOfText(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

const Files* FilesOf(std::string_view bytes) {
  const fbs::TOC* const toc = fbs::GetZtoc(bytes.data())->toc();
  return toc == nullptr ? nullptr : toc->metadata();
}

// What may still be taken from the file: a small one may name one table or text as often as it likes.
class Budget {
 public:
  explicit Budget(uint64_t size) : left_(size) {}
  Status Take(uint64_t count, std::string_view what) {
    if (count > left_) return Malformed(fmt::format("{} take more room than the file has", what));
    left_ -= count;
    return OkStatus();
  }

 private:
  uint64_t left_;
};

// The time that an entry tells. Empty text stands for a year that the format cannot write; the member's own record
// still tells it.
ModTime TimeOf(std::string_view text, const tar::Entry& entry) {
  if (!text.empty()) return ParseModTime(text).value_or(kNoModTime);
  const auto record = entry.pax.find("mtime");
  const auto exact = record == entry.pax.end() ? std::nullopt : tar::ParsePaxTime(record->second);
  return exact ? ModTime{exact->seconds, exact->nanoseconds} : kNoModTime;
}

}  // namespace

// Makes all checks on its way, the first time as every time.
class ZtocEntries::Reader final : public Cursor {
 public:
  explicit Reader(const ZtocEntries& entries)
      : entries_(entries),
        files_(FilesOf(entries.bytes_)),
        texts_(entries.bytes_.size() - entries.head_text_),
        tables_(entries.bytes_.size() - entries.size() * kBytesPerEntry) {}

  const tar::Entry* Next() override { return next_ < entries_.size() && Read().ok() ? &entry_ : nullptr; }

  Status ReadAll() {
    while (next_ < entries_.size()) SOCI_RETURN_IF_ERROR(Read());
    return OkStatus();
  }

 private:
  Status Read() {
    const size_t place = entries_.order_.empty() ? next_ : entries_.order_[next_];
    ++next_;
    SOCI_RETURN_IF_ERROR(Take(*files_->Get(static_cast<flatbuffers::uoffset_t>(place))));
    return Place();
  }

  // What the table says.
  Status Take(const fbs::FileMetadata& file) {
    SOCI_RETURN_IF_ERROR(TakeText(file.name(), entry_.name));
    SOCI_RETURN_IF_ERROR(TakeText(file.linkname(), entry_.link_name));
    SOCI_RETURN_IF_ERROR(TakeText(file.uname(), entry_.uname));
    SOCI_RETURN_IF_ERROR(TakeText(file.gname(), entry_.gname));
    SOCI_RETURN_IF_ERROR(TakeRecords(file));
    const std::optional<tar::EntryType> type = EntryTypeOf(ViewOfText(file.type()));
    if (!type) return Malformed(fmt::format("{} has an unknown type", Quoted(entry_.name)));
    entry_.type = *type;
    entry_.mode = file.mode();
    entry_.uid = file.uid();
    entry_.gid = file.gid();
    entry_.size = file.uncompressed_size();
    entry_.device_major = file.devmajor();
    entry_.device_minor = file.devminor();
    if (file.uncompressed_offset() < 0) return Malformed(fmt::format("{} has a negative offset", Quoted(entry_.name)));
    entry_.header.end = static_cast<uint64_t>(file.uncompressed_offset());
    const ModTime time = TimeOf(ViewOfText(file.mod_time()), entry_);
    entry_.mtime_seconds = time.seconds;
    entry_.mtime_nanoseconds = time.nanoseconds;
    return OkStatus();
  }

  Status TakeText(const flatbuffers::String* text, std::string& out) {
    const std::string_view view = ViewOfText(text);
    SOCI_RETURN_IF_ERROR(texts_.Take(view.size(), "texts"));
    out = view;
    return OkStatus();
  }

  Status TakeRecords(const fbs::FileMetadata& file) {
    entry_.pax.clear();
    if (file.xattrs() == nullptr) return OkStatus();
    SOCI_RETURN_IF_ERROR(tables_.Take(uint64_t{file.xattrs()->size()} * kBytesPerRecord, "PAX records"));
    for (const fbs::Xattr* record : *file.xattrs()) {
      std::string key, value;
      SOCI_RETURN_IF_ERROR(TakeText(record->key(), key));
      SOCI_RETURN_IF_ERROR(TakeText(record->value(), value));
      entry_.pax.insert_or_assign(std::move(key), std::move(value));
    }
    return OkStatus();
  }

  // A zTOC tells only where data begins: the header begins where the member before it ends, rounded up to a block.
  Status Place() {
    const uint64_t archive_end = entries_.archive_end_;
    if (entry_.header.end < next_header_ + tar::kBlockSize || entry_.header.end > archive_end) {
      return Malformed(fmt::format("{} lies over another member or outside the archive", Quoted(entry_.name)));
    }
    entry_.header.begin = next_header_;
    uint64_t size = 0;
    if (!tar::IsHeaderOnly(entry_.type)) {
      if (tar::SparseFormatOf(entry_.pax) != tar::SparseFormat::kNone) {
        return Malformed(fmt::format("{} is sparse: its content cannot be told", Quoted(entry_.name)));
      }
      if (entry_.size < 0 || static_cast<uint64_t>(entry_.size) > archive_end - entry_.header.end) {
        return Malformed(fmt::format("content of {} lies outside the archive", Quoted(entry_.name)));
      }
      size = static_cast<uint64_t>(entry_.size);
    }
    entry_.content = {entry_.header.end, entry_.header.end + size};
    next_header_ = tar::RoundToBlock(entry_.content.end);
    return OkStatus();
  }

  const ZtocEntries& entries_;
  const Files* const files_;
  Budget texts_;
  Budget tables_;
  size_t next_ = 0;
  uint64_t next_header_ = 0;
  tar::Entry entry_;
};

Result<std::shared_ptr<const tar::Entries>> ZtocEntries::Check(std::string_view bytes, const ZtocHead& head) {
  const std::shared_ptr<ZtocEntries> entries(new ZtocEntries(bytes, head));
  SOCI_RETURN_IF_ERROR(Budget(bytes.size()).Take(entries->size() * kBytesPerEntry, "entries"));
  entries->FindOrder();
  SOCI_RETURN_IF_ERROR(Reader(*entries).ReadAll());
  return entries;
}

size_t ZtocEntries::size() const {
  const Files* const files = FilesOf(bytes_);
  return files == nullptr ? 0 : files->size();
}

std::unique_ptr<tar::Entries::Cursor> ZtocEntries::Open() const { return std::make_unique<Reader>(*this); }

void ZtocEntries::FindOrder() {
  const Files* const files = FilesOf(bytes_);
  if (files == nullptr) return;
  const auto offset = [&](uint32_t place) { return files->Get(place)->uncompressed_offset(); };
  bool in_order = true;
  for (uint32_t place = 1; place < files->size() && in_order; ++place) in_order = offset(place - 1) <= offset(place);
  if (in_order) return;
  order_.resize(files->size());  // of no writer that we know
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(),
            [&](uint32_t a, uint32_t b) { return offset(a) != offset(b) ? offset(a) < offset(b) : a < b; });
}

}  // namespace soci
