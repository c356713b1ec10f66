#include "indexer/table/table_compiler.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <span>
#include <thread>
#include <vector>

#include "indexer/base/crc32c.h"
#include "indexer/codec/window_pack.h"
#include "indexer/table/layer_spans.h"
#include "indexer/table/layer_table.h"
#include "indexer/table/layer_tree.h"
#include "indexer/table/table_writer.h"

namespace soci {
namespace {

using table::LayerTree;
using table::Section;
using Numbers = std::vector<uint32_t>;  // an inode's number by its place in the tree; 0: not visible

constexpr uint64_t kTarBlock = 512;
constexpr size_t kWindowsAtOnce = 256;  // 8 MiB

// A member's name in an error message: printable and short.
std::string Quoted(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, 120)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte > 0x7e ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return text;
}

// Where a member's blocks may lie: after those of the one before it, inside the layer.
Status CheckPlace(const tar::Entry& entry, uint64_t previous_end, uint64_t layer_end) {
  if (entry.header.begin < previous_end) return absl::InvalidArgumentError("overlaps the member before it");
  if (entry.header.end < entry.header.begin || entry.header.size() < kTarBlock) {
    return absl::InvalidArgumentError("has no room for its header");
  }
  if (entry.header.end > layer_end) return absl::InvalidArgumentError("lies behind the layer's end");
  if (entry.content.empty()) return OkStatus();
  if (entry.content.begin != entry.header.end || entry.content.end > layer_end) {
    return absl::InvalidArgumentError("has its data outside the layer");
  }
  return OkStatus();
}

struct MemberData {
  LayerTree::Index inode = LayerTree::kNone;
  UncompressedRange range;
};

// Applies all members in order; returns where their data lie.
Result<std::vector<MemberData>> ApplyMembers(const ZtocView& ztoc, uint64_t layer_end, LayerTree& tree,
                                             table::TableWriter& writer) {
  std::vector<MemberData> contents;
  uint64_t end = 0;
  size_t place = 0;
  for (const tar::Entry& entry : *ztoc.entries) {
    const auto annotate = [&](const Status& status) {
      return Annotate(status, fmt::format("member {} \"{}\"", place, Quoted(entry.name)));
    };
    if (Status status = CheckPlace(entry, end, layer_end); !status.ok()) return annotate(status);
    end = std::max(entry.header.end, entry.content.end);
    Result<LayerTree::Index> inode = tree.Add(entry);
    if (!inode.ok()) return annotate(inode.status());
    writer.Append(Section::kHeaders,
                  table::HeaderRecord{entry.header.begin, entry.header.end, MemberFingerprint(entry)});
    if (!entry.content.empty()) contents.push_back({*inode, entry.content});
    ++place;
  }
  tree.AddWhiteouts();
  if (tree.inode_count() > table::kMaxInodes) return absl::InvalidArgumentError("too many files");
  return contents;
}

// Writes the tree breadth first and gives the inodes their numbers on the way (layout 1).
class TreeWriter {
 public:
  TreeWriter(const LayerTree& tree, table::TableWriter& writer) : tree_(tree), writer_(writer) {
    numbers_.resize(tree.inode_count());
    link_counts_.resize(tree.inode_count());
  }

  // Whether a folder in the tree has no member of its own; after Write.
  bool has_implied_directories() const { return has_implied_directories_; }

  Numbers Write() {
    Visit(0);
    for (size_t next = 0; next < order_.size(); ++next) {
      const LayerTree::Index index = order_[next];
      if (!S_ISDIR(tree_.inode(index).mode)) continue;
      link_counts_[index] += 1;  // its "."
      for (const auto& [key, child] : tree_.ChildrenOf(index)) {
        Visit(child);
        if (S_ISDIR(tree_.inode(child).mode)) ++link_counts_[index];
        ++link_counts_[child];
      }
    }
    link_counts_[0] += 1;  // as if it had a name
    for (const LayerTree::Index index : order_) WriteInode(index);
    return std::move(numbers_);
  }

 private:
  void Visit(LayerTree::Index index) {
    if (numbers_[index] != 0) return;
    order_.push_back(index);
    numbers_[index] = static_cast<uint32_t>(order_.size());
  }

  void WriteInode(LayerTree::Index index) {
    const LayerTree::Inode& inode = tree_.inode(index);
    has_implied_directories_ = has_implied_directories_ || inode.implied;
    table::InodeRecord record{};
    record.mode = inode.mode;
    record.uid = inode.uid;
    record.gid = inode.gid;
    record.link_count = link_counts_[index];
    record.mtime_seconds = inode.mtime_seconds;
    record.mtime_nanoseconds = inode.mtime_nanoseconds;
    record.device_major = inode.device_major;
    record.device_minor = inode.device_minor;
    record.first_xattr = static_cast<uint32_t>(writer_.Count<table::XattrRecord>(Section::kXattrs));
    if (S_ISDIR(inode.mode)) {
      record.parent = numbers_[inode.parent];
      record.position = writer_.Count<table::ChildRecord>(Section::kChildren);
      record.size = WriteChildren(index);
    } else if (S_ISLNK(inode.mode)) {
      record.size = inode.link_target.size();
      record.position = writer_.Store(Section::kStrings, inode.link_target);
    } else if (S_ISREG(inode.mode)) {
      record.size = inode.content.size();
      record.position = inode.content.begin;
    }
    record.xattr_count = WriteXattrs(inode);
    writer_.Append(Section::kInodes, record);
  }

  uint64_t WriteChildren(LayerTree::Index directory) {
    uint64_t count = 0;
    for (const auto& [key, child] : tree_.ChildrenOf(directory)) {
      const std::string_view name = key.second;
      const uint64_t position = writer_.Store(Section::kStrings, name);
      writer_.Append(Section::kChildren,
                     table::ChildRecord{position, static_cast<uint32_t>(name.size()), numbers_[child]});
      ++count;
    }
    return count;
  }

  uint32_t WriteXattrs(const LayerTree::Inode& inode) {
    const auto write = [&](std::string_view name, std::string_view value) {
      table::XattrRecord record{};
      record.name = writer_.Store(Section::kStrings, name);
      record.value = writer_.Store(Section::kStrings, value);
      record.name_length = static_cast<uint32_t>(name.size());
      record.value_length = static_cast<uint32_t>(value.size());
      writer_.Append(Section::kXattrs, record);
    };
    for (const auto& [name, value] : inode.xattrs) write(name, value);
    if (inode.opaque) write("trusted.overlay.opaque", "y");
    return static_cast<uint32_t>(inode.xattrs.size()) + (inode.opaque ? 1 : 0);
  }

  const LayerTree& tree_;
  table::TableWriter& writer_;
  Numbers numbers_;
  std::vector<uint32_t> link_counts_;
  std::vector<LayerTree::Index> order_;
  bool has_implied_directories_ = false;
};

// The windows of some spans, packed on all cores: most of the time of a compilation, and a start waits for it.
std::vector<std::string> PackWindows(std::span<const table::LayerSpan> spans) {
  std::vector<std::string> packed(spans.size());
  const size_t workers = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, spans.size());
  const auto pack = [&](size_t worker) {
    WindowPacker packer;
    for (size_t i = worker; i < spans.size(); i += workers) {
      if (!spans[i].window.empty()) packed[i] = packer.Pack(spans[i].window);
    }
  };
  std::vector<std::jthread> threads;
  for (size_t worker = 1; worker < workers; ++worker) threads.emplace_back(pack, worker);
  pack(0);
  threads.clear();
  return packed;
}

void WriteSpans(std::span<const table::LayerSpan> spans, table::TableWriter& writer) {
  std::vector<std::string> windows;
  for (size_t i = 0; i < spans.size(); ++i) {
    // Not all at once: they are in memory twice meanwhile.
    if (i % kWindowsAtOnce == 0) windows = PackWindows(spans.subspan(i, std::min(kWindowsAtOnce, spans.size() - i)));
    const table::LayerSpan& span = spans[i];
    const std::string& packed = windows[i % kWindowsAtOnce];
    table::SpanRecord record{};
    record.compressed_begin = span.extent.compressed.begin;
    record.compressed_end = span.extent.compressed.end;
    record.uncompressed_begin = span.extent.uncompressed.begin;
    record.uncompressed_end = span.extent.uncompressed.end;
    record.bits = span.extent.bits;
    record.digest = span.digest.raw();
    record.window = writer.Store(Section::kWindows, packed);
    record.window_length = static_cast<uint32_t>(packed.size());
    record.window_crc32c = Crc32c(AsBytes(packed));
    writer.Append(Section::kSpans, record);
  }
}

}  // namespace

Result<std::string> CompileTable(const ZtocView& ztoc, const oci::LayerDigest& layer, const CompileOptions& options) {
  SOCI_ASSIGN_OR_RETURN(const std::vector<table::LayerSpan> spans, table::CheckedSpans(ztoc));
  const uint64_t layer_end = spans.empty() ? 0 : spans.back().extent.uncompressed.end;
  table::TableWriter writer;
  LayerTree tree(ztoc.entries->size(), !options.disable_xattrs);
  SOCI_ASSIGN_OR_RETURN(const std::vector<MemberData> contents, ApplyMembers(ztoc, layer_end, tree, writer));
  TreeWriter tree_writer(tree, writer);
  const Numbers numbers = tree_writer.Write();
  WriteSpans(spans, writer);
  for (const MemberData& content : contents) {
    const uint32_t inode = content.inode == LayerTree::kNone ? 0 : numbers[content.inode];
    writer.Append(Section::kContents, table::ContentRecord{content.range.begin, content.range.end, inode, 0});
  }
  table::FileHeader header{};
  header.layout = LayerTable::kLayout;
  header.layer = layer.raw();
  header.compressed_size = ztoc.compressed_size;
  header.uncompressed_size = layer_end;
  header.compression = static_cast<uint8_t>(ztoc.compression);
  header.has_implied_directories = tree_writer.has_implied_directories() ? 1 : 0;
  return writer.Finish(header);
}

}  // namespace soci
