#include "indexer/table/mapped_table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "indexer/base/crc32c.h"
#include "indexer/base/file_io.h"
#include "indexer/codec/window_pack.h"

namespace soci {
namespace table {

// A string's own buffer is aligned for records because it comes from the heap; a short one is not a table anyway.
TableBytes::TableBytes(std::string bytes)
    : text_(std::make_unique<std::string>(std::move(bytes))),
      address_(reinterpret_cast<const std::byte*>(text_->data())),
      size_(text_->size()) {}

TableBytes::TableBytes(TableBytes&& other) noexcept
    : text_(std::move(other.text_)),
      address_(std::exchange(other.address_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

TableBytes::~TableBytes() {
  if (text_ == nullptr && address_ != nullptr) ::munmap(const_cast<std::byte*>(address_), size_);
}

Result<TableBytes> TableBytes::Map(const std::string& path) {
  SOCI_ASSIGN_OR_RETURN(const UniqueFd file, OpenFile(path, O_RDONLY));
  struct stat attributes {};
  if (::fstat(file.get(), &attributes) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(attributes.st_mode) || attributes.st_size < static_cast<off_t>(sizeof(FileHeader))) {
    return absl::InvalidArgumentError(fmt::format("{}: too short for a layer table", path));
  }
  TableBytes bytes;
  bytes.size_ = static_cast<size_t>(attributes.st_size);
  void* address = ::mmap(nullptr, bytes.size_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), 0);
  if (address == MAP_FAILED) return ErrnoStatus(errno, path);
  bytes.address_ = static_cast<const std::byte*>(address);
  return bytes;
}

MappedTable::MappedTable(TableBytes bytes, const Sections& sections)
    : bytes_(std::move(bytes)), sections_(sections), layer_(oci::Digest(sections.header->layer)) {}

const InodeRecord* MappedTable::Find(InodeId inode) const {
  const uint64_t number = ToNumber(inode);
  return number == 0 || number > sections_.inodes.size() ? nullptr : &sections_.inodes[number - 1];
}

const InodeRecord* MappedTable::FindDirectory(InodeId inode) const {
  const InodeRecord* record = Find(inode);
  return record != nullptr && S_ISDIR(record->mode) ? record : nullptr;
}

std::optional<InodeAttributes> MappedTable::Attributes(InodeId inode) const {
  const InodeRecord* record = Find(inode);
  if (record == nullptr) return std::nullopt;
  InodeAttributes attributes;
  attributes.mode = record->mode;
  attributes.uid = record->uid;
  attributes.gid = record->gid;
  attributes.link_count = record->link_count;
  attributes.size = S_ISDIR(record->mode) ? 4096 : record->size;
  attributes.mtime_seconds = record->mtime_seconds;
  attributes.mtime_nanoseconds = record->mtime_nanoseconds;
  attributes.device_major = record->device_major;
  attributes.device_minor = record->device_minor;
  if (S_ISREG(record->mode)) attributes.content = {record->position, record->position + record->size};
  return attributes;
}

std::optional<InodeId> MappedTable::Lookup(InodeId directory, std::string_view name) const {
  const InodeRecord* record = FindDirectory(directory);
  if (record == nullptr) return std::nullopt;
  const std::span<const ChildRecord> children = sections_.ChildrenOf(*record);
  const auto found =
      std::lower_bound(children.begin(), children.end(), name,
                       [this](const ChildRecord& child, auto want) { return sections_.NameOf(child) < want; });
  if (found == children.end() || sections_.NameOf(*found) != name) return std::nullopt;
  return InodeId{found->inode};
}

InodeId MappedTable::Parent(InodeId directory) const {
  const InodeRecord* record = FindDirectory(directory);
  return record == nullptr ? InodeId::kRoot : InodeId{record->parent};
}

uint64_t MappedTable::ChildCount(InodeId directory) const {
  const InodeRecord* record = FindDirectory(directory);
  return record == nullptr ? 0 : record->size;
}

DirectoryChild MappedTable::Child(InodeId directory, uint64_t rank) const {
  const InodeRecord* record = FindDirectory(directory);
  if (record == nullptr || rank >= record->size) return {};
  const ChildRecord& child = sections_.children[record->position + rank];
  return {sections_.NameOf(child), InodeId{child.inode}};
}

std::string_view MappedTable::LinkTarget(InodeId symlink) const {
  const InodeRecord* record = Find(symlink);
  if (record == nullptr || !S_ISLNK(record->mode)) return {};
  return sections_.strings.substr(record->position, record->size);
}

uint64_t MappedTable::XattrCount(InodeId inode) const {
  const InodeRecord* record = Find(inode);
  return record == nullptr ? 0 : record->xattr_count;
}

Xattr MappedTable::XattrAt(InodeId inode, uint64_t index) const {
  const InodeRecord* record = Find(inode);
  if (record == nullptr || index >= record->xattr_count) return {};
  const XattrRecord& xattr = sections_.xattrs[record->first_xattr + index];
  return {sections_.strings.substr(xattr.name, xattr.name_length),
          sections_.strings.substr(xattr.value, xattr.value_length)};
}

SpanExtent MappedTable::Extent(SpanId span) const {
  if (ToIndex(span) >= sections_.spans.size()) return {};
  const SpanRecord& record = sections_.spans[ToIndex(span)];
  SpanExtent extent;
  extent.compressed = {record.compressed_begin, record.compressed_end};
  extent.uncompressed = {record.uncompressed_begin, record.uncompressed_end};
  extent.bits = static_cast<uint8_t>(record.bits);
  return extent;
}

oci::Digest MappedTable::SpanDigest(SpanId span) const {
  return ToIndex(span) < sections_.spans.size() ? oci::Digest(sections_.spans[ToIndex(span)].digest) : oci::Digest();
}

Status MappedTable::LoadWindow(SpanId span, Window& out) const {
  if (ToIndex(span) >= sections_.spans.size()) return absl::InvalidArgumentError("no such span");
  const SpanRecord& record = sections_.spans[ToIndex(span)];
  const ByteSpan packed = AsBytes(sections_.windows.substr(record.window, record.window_length));
  if (Crc32c(packed) != record.window_crc32c) {
    return absl::DataLossError(
        fmt::format("layer table of {}: the window of span {} is damaged", layer_.ToString(), ToIndex(span)));
  }
  return UnpackWindow(packed, out);
}

SpanId MappedTable::SpanAt(uint64_t uncompressed) const {
  const auto after = std::upper_bound(sections_.spans.begin(), sections_.spans.end(), uncompressed,
                                      [](uint64_t at, const SpanRecord& span) { return at < span.uncompressed_begin; });
  return SpanId{static_cast<uint32_t>(after == sections_.spans.begin() ? 0 : after - sections_.spans.begin() - 1)};
}

FileContent MappedTable::Content(uint64_t index) const {
  if (index >= sections_.contents.size()) return {};
  const ContentRecord& record = sections_.contents[index];
  return {InodeId{record.inode}, {record.begin, record.end}};
}

uint64_t MappedTable::FirstContentEndingAfter(uint64_t uncompressed) const {
  const auto found = std::partition_point(sections_.contents.begin(), sections_.contents.end(),
                                          [&](const ContentRecord& content) { return content.end <= uncompressed; });
  return static_cast<uint64_t>(found - sections_.contents.begin());
}

MemberHeader MappedTable::Header(uint64_t index) const {
  if (index >= sections_.headers.size()) return {};
  const HeaderRecord& record = sections_.headers[index];
  return {{record.begin, record.end}, record.fingerprint};
}

uint64_t MappedTable::FirstHeaderEndingAfter(uint64_t uncompressed) const {
  const auto found = std::partition_point(sections_.headers.begin(), sections_.headers.end(),
                                          [&](const HeaderRecord& header) { return header.end <= uncompressed; });
  return static_cast<uint64_t>(found - sections_.headers.begin());
}

namespace {

Result<std::shared_ptr<const LayerTable>> OpenBytes(TableBytes bytes, const oci::LayerDigest& layer,
                                                    std::string_view name) {
  Result<Sections> sections = FindSections(bytes.view());
  if (!sections.ok()) return Annotate(sections.status(), name);
  if (oci::Digest(sections->header->layer) != layer) {
    return absl::FailedPreconditionError(
        fmt::format("{}: the table of another layer, {}", name, oci::Digest(sections->header->layer).ToString()));
  }
  if (Status status = CheckSections(*sections); !status.ok()) return Annotate(status, name);
  return std::make_shared<const MappedTable>(std::move(bytes), *sections);
}

}  // namespace
}  // namespace table

Result<std::shared_ptr<const LayerTable>> LayerTable::Open(const std::string& path, const oci::LayerDigest& layer) {
  SOCI_ASSIGN_OR_RETURN(table::TableBytes bytes, table::TableBytes::Map(path));
  return table::OpenBytes(std::move(bytes), layer, path);
}

Result<std::shared_ptr<const LayerTable>> LayerTable::FromBytes(std::string bytes, const oci::LayerDigest& layer) {
  return table::OpenBytes(table::TableBytes(std::move(bytes)), layer, "layer table of " + layer.ToString());
}

}  // namespace soci
