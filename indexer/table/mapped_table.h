// LayerTable over the bytes of a table file, mapped or in memory. Checks everything when it is made; see table_check.
#pragma once

#include <memory>
#include <string>

#include "indexer/table/layer_table.h"
#include "indexer/table/table_format.h"
#include "indexer/table/table_sections.h"

namespace soci::table {

// Owns the bytes: an anonymous string or a private read-only mapping of a file.
class TableBytes {
 public:
  explicit TableBytes(std::string bytes);
  static Result<TableBytes> Map(const std::string& path);
  TableBytes(TableBytes&& other) noexcept;
  TableBytes& operator=(TableBytes&&) = delete;
  ~TableBytes();

  ByteSpan view() const { return {address_, size_}; }

 private:
  TableBytes() = default;

  std::unique_ptr<std::string> text_;
  const std::byte* address_ = nullptr;
  size_t size_ = 0;
};

class MappedTable final : public LayerTable {
 public:
  // `sections` point into `bytes` and were checked.
  MappedTable(TableBytes bytes, const Sections& sections);

  const oci::LayerDigest& layer() const override { return layer_; }
  Compression compression() const override { return static_cast<Compression>(sections_.header->compression); }
  uint64_t compressed_size() const override { return sections_.header->compressed_size; }
  uint64_t uncompressed_size() const override { return sections_.header->uncompressed_size; }
  bool has_xattrs() const override { return !sections_.xattrs.empty(); }
  bool has_implied_directories() const override { return sections_.header->has_implied_directories != 0; }

  uint64_t inode_count() const override { return sections_.inodes.size(); }
  std::optional<InodeAttributes> Attributes(InodeId inode) const override;
  std::optional<InodeId> Lookup(InodeId directory, std::string_view name) const override;
  InodeId Parent(InodeId directory) const override;
  uint64_t ChildCount(InodeId directory) const override;
  DirectoryChild Child(InodeId directory, uint64_t rank) const override;
  std::string_view LinkTarget(InodeId symlink) const override;
  uint64_t XattrCount(InodeId inode) const override;
  Xattr XattrAt(InodeId inode, uint64_t index) const override;

  uint32_t span_count() const override { return static_cast<uint32_t>(sections_.spans.size()); }
  SpanExtent Extent(SpanId span) const override;
  oci::Digest SpanDigest(SpanId span) const override;
  Status LoadWindow(SpanId span, Window& out) const override;
  SpanId SpanAt(uint64_t uncompressed) const override;

  uint64_t content_count() const override { return sections_.contents.size(); }
  FileContent Content(uint64_t index) const override;
  uint64_t FirstContentEndingAfter(uint64_t uncompressed) const override;
  uint64_t header_count() const override { return sections_.headers.size(); }
  MemberHeader Header(uint64_t index) const override;
  uint64_t FirstHeaderEndingAfter(uint64_t uncompressed) const override;

 private:
  const InodeRecord* Find(InodeId inode) const;
  const InodeRecord* FindDirectory(InodeId inode) const;

  const TableBytes bytes_;
  const Sections sections_;
  const oci::LayerDigest layer_;
};

}  // namespace soci::table
