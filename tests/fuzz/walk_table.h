// Asks a layer table everything a snapshotter could ask. What was opened must answer without touching anything outside.
#pragma once

#include <sys/stat.h>

#include <cstdlib>

#include "indexer/table/layer_table.h"

namespace soci::fuzz {

inline void Expect(bool condition) {
  if (!condition) std::abort();
}

inline void WalkFiles(const LayerTable& table) {
  uint64_t bytes = 0;
  for (uint64_t number = 0; number <= table.inode_count() + 1; ++number) {
    const InodeId inode{number};
    const auto attributes = table.Attributes(inode);
    Expect(attributes.has_value() == (number >= 1 && number <= table.inode_count()));
    for (uint64_t rank = 0; rank < table.ChildCount(inode); ++rank) {
      const DirectoryChild child = table.Child(inode, rank);
      Expect(table.Lookup(inode, child.name) == child.inode);
      const auto child_attributes = table.Attributes(child.inode);
      Expect(child_attributes.has_value());
      if (S_ISDIR(child_attributes->mode)) Expect(table.Parent(child.inode) == inode && child.inode > inode);
    }
    if (attributes && S_ISREG(attributes->mode)) Expect(attributes->content.end <= table.uncompressed_size());
    for (const char c : table.LinkTarget(inode)) bytes += static_cast<unsigned char>(c);
    for (uint64_t i = 0; i < table.XattrCount(inode); ++i) {
      const Xattr xattr = table.XattrAt(inode, i);
      for (const char c : xattr.name) bytes += static_cast<unsigned char>(c);
      for (const char c : xattr.value) bytes += static_cast<unsigned char>(c);
    }
  }
  Expect(bytes < UINT64_MAX);  // so that the reads are not left out
}

inline void WalkTable(const LayerTable& table) {
  WalkFiles(table);
  uint64_t end = 0;
  Window window;
  for (uint32_t i = 0; i < table.span_count(); ++i) {
    const SpanExtent extent = table.Extent(SpanId{i});
    Expect(extent.uncompressed.begin == end && !extent.uncompressed.empty());
    Expect(table.SpanAt(end) == SpanId{i});
    end = extent.uncompressed.end;
    Expect(extent.compressed.end <= table.compressed_size());
    (void)table.LoadWindow(SpanId{i}, window);
  }
  Expect(end == table.uncompressed_size());
  for (uint64_t i = 0; i < table.content_count(); ++i) {
    const FileContent content = table.Content(i);
    Expect(content.range.end <= end && table.FirstContentEndingAfter(content.range.begin) == i);
  }
  for (uint64_t i = 0; i < table.header_count(); ++i) {
    Expect(table.FirstHeaderEndingAfter(table.Header(i).range.begin) == i);
  }
}

}  // namespace soci::fuzz
