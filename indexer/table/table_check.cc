#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "indexer/codec/checkpoint.h"
#include "indexer/table/layer_path.h"
#include "indexer/table/layer_spans.h"
#include "indexer/table/table_sections.h"

namespace soci::table {
namespace {

Status Wrong(std::string_view what, uint64_t index, std::string_view why) {
  return absl::InvalidArgumentError(fmt::format("{} {}: {}", what, index, why));
}

bool IsInside(uint64_t position, uint64_t length, std::string_view pool) {
  return position <= pool.size() && length <= pool.size() - position;
}

bool IsPossibleName(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameLength || name == "." || name == "..") return false;
  return std::none_of(name.begin(), name.end(), [](char c) { return c == '/' || c == '\0'; });
}

Status CheckInode(const Sections& sections, const InodeRecord& inode, uint64_t& next_child, uint64_t& next_xattr) {
  if (inode.mtime_nanoseconds >= 1'000'000'000) return absl::InvalidArgumentError("its time is no time");
  if (inode.first_xattr != next_xattr || inode.xattr_count > sections.xattrs.size() - next_xattr) {
    return absl::InvalidArgumentError("its xattrs are not where they should be");
  }
  next_xattr += inode.xattr_count;
  switch (inode.mode & S_IFMT) {
    case S_IFDIR:
      if (inode.position != next_child || inode.size > sections.children.size() - next_child) {
        return absl::InvalidArgumentError("its children are not where they should be");
      }
      next_child += inode.size;
      return OkStatus();
    case S_IFLNK:
      if (inode.size == 0 || inode.size > kMaxPathLength || !IsInside(inode.position, inode.size, sections.strings)) {
        return absl::InvalidArgumentError("its target is outside the table");
      }
      return OkStatus();
    case S_IFREG:
      if (inode.position > sections.header->uncompressed_size ||
          inode.size > sections.header->uncompressed_size - inode.position) {
        return absl::InvalidArgumentError("its data lie outside the layer");
      }
      return OkStatus();
    case S_IFCHR:
    case S_IFBLK:
    case S_IFIFO:
      return inode.size == 0 ? OkStatus() : absl::InvalidArgumentError("it has a size");
    default:
      return absl::InvalidArgumentError("its type is unknown");
  }
}

// Breadth first: directories come in the order of their numbers, and each child is either the next new number or a hard
// link to a known one. So every inode is reached, and every directory exactly once, from a smaller number.
Status CheckTree(const Sections& sections) {
  std::vector<uint32_t> names(sections.inodes.size() + 1);
  uint32_t next = 2;
  names[1] = 1;
  for (uint32_t number = 1; number <= sections.inodes.size(); ++number) {
    if (number >= next) return Wrong("inode", number, "nothing leads to it");
    const InodeRecord& inode = sections.inodes[number - 1];
    if (!S_ISDIR(inode.mode)) continue;
    uint32_t folders = 0;
    std::string_view before;
    for (const ChildRecord& child : sections.ChildrenOf(inode)) {
      if (!IsInside(child.name, child.name_length, sections.strings))
        return Wrong("inode", number, "a name is outside");
      const std::string_view name = sections.NameOf(child);
      if (!IsPossibleName(name) || name <= before) return Wrong("inode", number, "its names are not in order");
      before = name;
      if (child.inode == 0 || child.inode > next || child.inode > sections.inodes.size()) {
        return Wrong("inode", number, "a child's number is not the next one");
      }
      const InodeRecord& entry = sections.inodes[child.inode - 1];
      if (S_ISDIR(entry.mode)) {
        if (child.inode != next || entry.parent != number) return Wrong("inode", child.inode, "is in two folders");
        ++folders;
      }
      if (child.inode == next) ++next;
      ++names[child.inode];
    }
    if (inode.link_count != 2 + folders) return Wrong("inode", number, "its link count is wrong");
  }
  for (uint32_t number = 1; number <= sections.inodes.size(); ++number) {
    const InodeRecord& inode = sections.inodes[number - 1];
    if (!S_ISDIR(inode.mode) && inode.link_count != names[number])
      return Wrong("inode", number, "its link count is wrong");
  }
  return OkStatus();
}

Status CheckXattrs(const Sections& sections) {
  for (uint64_t i = 0; i < sections.xattrs.size(); ++i) {
    const XattrRecord& xattr = sections.xattrs[i];
    if (xattr.name_length == 0 || xattr.name_length > kMaxNameLength ||
        !IsInside(xattr.name, xattr.name_length, sections.strings) ||
        !IsInside(xattr.value, xattr.value_length, sections.strings)) {
      return Wrong("xattr", i, "is outside the table");
    }
    if (sections.strings.substr(xattr.name, xattr.name_length).find('\0') != std::string_view::npos) {
      return Wrong("xattr", i, "its name has a NUL");
    }
  }
  return OkStatus();
}

Status CheckSpans(const Sections& sections) {
  const FileHeader& header = *sections.header;
  const bool gzip = header.compression == static_cast<uint8_t>(Compression::kGzip);
  if (!gzip && header.compression != static_cast<uint8_t>(Compression::kUncompressed)) {
    return absl::InvalidArgumentError("its compression is unknown");
  }
  if (sections.spans.size() > UINT32_MAX) return absl::InvalidArgumentError("too many spans");
  uint64_t end = 0;
  uint64_t compressed_begin = 0;
  for (uint64_t i = 0; i < sections.spans.size(); ++i) {
    const SpanRecord& span = sections.spans[i];
    if (span.uncompressed_begin != end || span.uncompressed_end <= end || span.uncompressed_end - end > kMaxSpanSize) {
      return Wrong("span", i, "does not follow the one before it");
    }
    end = span.uncompressed_end;
    if (span.compressed_begin < compressed_begin || span.compressed_end <= span.compressed_begin ||
        span.compressed_end > header.compressed_size) {
      return Wrong("span", i, "its compressed bytes are not in the layer");
    }
    compressed_begin = span.compressed_begin;
    if (span.bits > 7 || (!gzip && (span.bits != 0 || span.compressed_begin != span.uncompressed_begin ||
                                    span.compressed_end != span.uncompressed_end))) {
      return Wrong("span", i, "is impossible in this compression");
    }
    if (!IsInside(span.window, span.window_length, sections.windows)) return Wrong("span", i, "has no window");
  }
  if (end != header.uncompressed_size) return absl::InvalidArgumentError("its spans do not make up the layer");
  return OkStatus();
}

Status CheckMembers(const Sections& sections) {
  uint64_t end = 0;
  for (uint64_t i = 0; i < sections.headers.size(); ++i) {
    const HeaderRecord& header = sections.headers[i];
    if (header.begin < end || header.end <= header.begin) return Wrong("header", i, "is not in order");
    end = header.end;
  }
  if (end > sections.header->uncompressed_size) return absl::InvalidArgumentError("headers lie outside the layer");
  end = 0;
  for (uint64_t i = 0; i < sections.contents.size(); ++i) {
    const ContentRecord& content = sections.contents[i];
    if (content.begin < end || content.end <= content.begin) return Wrong("content", i, "is not in order");
    end = content.end;
    if (content.inode == 0) continue;
    if (content.inode > sections.inodes.size()) return Wrong("content", i, "belongs to no inode");
    const InodeRecord& inode = sections.inodes[content.inode - 1];
    if (!S_ISREG(inode.mode) || inode.position != content.begin || inode.size != content.end - content.begin) {
      return Wrong("content", i, "is not where its file has its data");
    }
  }
  if (end > sections.header->uncompressed_size) return absl::InvalidArgumentError("contents lie outside the layer");
  return OkStatus();
}

// A file whose data no content record knows would read as a hole.
Status CheckFilesHaveContents(const Sections& sections) {
  uint64_t files = 0;
  uint64_t contents = 0;
  for (const InodeRecord& inode : sections.inodes) files += S_ISREG(inode.mode) && inode.size != 0 ? 1 : 0;
  std::vector<bool> seen(sections.inodes.size() + 1);
  for (const ContentRecord& content : sections.contents) {
    if (content.inode == 0 || seen[content.inode]) continue;
    seen[content.inode] = true;
    ++contents;
  }
  return files == contents ? OkStatus() : absl::InvalidArgumentError("files without data in the layer");
}

}  // namespace

Status CheckSections(const Sections& sections) {
  if (sections.inodes.empty() || sections.inodes.size() > kMaxInodes) {
    return absl::InvalidArgumentError("it has an impossible number of inodes");
  }
  const InodeRecord& root = sections.inodes[0];
  if (!S_ISDIR(root.mode) || root.parent != 1) return absl::InvalidArgumentError("its root is no folder");
  uint64_t next_child = 0;
  uint64_t next_xattr = 0;
  for (uint64_t i = 0; i < sections.inodes.size(); ++i) {
    const Status status = CheckInode(sections, sections.inodes[i], next_child, next_xattr);
    if (!status.ok()) return Annotate(status, fmt::format("inode {}", i + 1));
  }
  if (next_child != sections.children.size() || next_xattr != sections.xattrs.size()) {
    return absl::InvalidArgumentError("children or xattrs that belong to nothing");
  }
  SOCI_RETURN_IF_ERROR(CheckTree(sections));
  SOCI_RETURN_IF_ERROR(CheckXattrs(sections));
  SOCI_RETURN_IF_ERROR(CheckSpans(sections));
  SOCI_RETURN_IF_ERROR(CheckMembers(sections));
  return CheckFilesHaveContents(sections);
}

}  // namespace soci::table
