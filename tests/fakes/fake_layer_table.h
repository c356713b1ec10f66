// A layer table made by hand: a tree of files for whoever serves them, and the spans of a plain tar for whoever fetches
// them. Build first, then call Number(); immutable after that.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "indexer/table/layer_table.h"

namespace soci::test {

struct FakeInode {
  InodeAttributes attributes;
  std::string target;
  std::string content;
  std::map<std::string, std::string> xattrs;
  std::map<std::string, FakeInode*> children;
  FakeInode* parent = nullptr;
  InodeId id{};
};

class FakeLayerTable : public LayerTable {
 public:
  FakeLayerTable() { Place("", S_IFDIR | 0755); }

  // Paths without a leading slash; parents are made first.
  FakeInode& Directory(const std::string& path, uint32_t mode = 0755) { return Place(path, S_IFDIR | mode); }
  FakeInode& File(const std::string& path, std::string content, uint32_t mode = 0644) {
    FakeInode& file = Place(path, S_IFREG | mode);
    file.attributes.size = content.size();
    file.content = std::move(content);
    return file;
  }
  FakeInode& Symlink(const std::string& path, const std::string& target) {
    FakeInode& link = Place(path, S_IFLNK | 0777);
    link.attributes.size = target.size();
    link.target = target;
    return link;
  }
  FakeInode& Whiteout(const std::string& path) { return Place(path, S_IFCHR); }
  void HardLink(const std::string& path, FakeInode& to) {
    auto [parent, name] = Split(path);
    parent->children[name] = &to;
    ++to.attributes.link_count;
  }

  void SetLayer(const oci::LayerDigest& layer) { layer_ = layer; }
  // Spans of a tar that nobody looks into.
  void SetSpans(uint32_t count, uint64_t span_size) {
    for (uint64_t i = 0; i < count; ++i) {
      extents_.push_back({{i * span_size, (i + 1) * span_size}, {i * span_size, (i + 1) * span_size}, 0});
    }
    tar_size_ = count * span_size;
  }
  // Spans of `span_size` bytes over a plain tar with these bytes.
  void SetTar(std::string_view tar, uint64_t span_size) {
    for (uint64_t begin = 0; begin < tar.size(); begin += span_size) {
      uint64_t end = std::min<uint64_t>(tar.size(), begin + span_size);
      extents_.push_back({{begin, end}, {begin, end}, 0});
      digests_.push_back(oci::Digest::Of(tar.substr(begin, end - begin)));
    }
    tar_size_ = tar.size();
  }

  void Number() {
    for (FakeInode& inode : inodes_) inode.id = InodeId{};
    by_id_.assign(1, nullptr);
    by_id_.push_back(&inodes_.front());
    inodes_.front().id = InodeId::kRoot;
    for (size_t i = 1; i < by_id_.size(); ++i) {
      for (auto& [name, child] : by_id_[i]->children) {
        if (child->id != InodeId{}) continue;
        child->id = InodeId{by_id_.size()};
        by_id_.push_back(child);
      }
    }
  }
  const FakeInode* Find(InodeId inode) const {
    return ToNumber(inode) < by_id_.size() ? by_id_[ToNumber(inode)] : nullptr;
  }

  const oci::LayerDigest& layer() const override { return layer_; }
  Compression compression() const override { return Compression::kUncompressed; }
  uint64_t compressed_size() const override { return tar_size_; }
  uint64_t uncompressed_size() const override { return tar_size_; }
  bool has_xattrs() const override {
    for (const FakeInode& inode : inodes_) {
      if (!inode.xattrs.empty()) return true;
    }
    return false;
  }

  bool has_implied_directories() const override { return false; }

  uint64_t inode_count() const override { return by_id_.size() - 1; }
  std::optional<InodeAttributes> Attributes(InodeId inode) const override {
    const FakeInode* found = Find(inode);
    return found ? std::optional(found->attributes) : std::nullopt;
  }
  std::optional<InodeId> Lookup(InodeId directory, std::string_view name) const override {
    auto& children = by_id_.at(ToNumber(directory))->children;
    auto found = children.find(std::string(name));
    return found == children.end() ? std::nullopt : std::optional(found->second->id);
  }
  InodeId Parent(InodeId directory) const override { return by_id_.at(ToNumber(directory))->parent->id; }
  uint64_t ChildCount(InodeId directory) const override { return by_id_.at(ToNumber(directory))->children.size(); }
  DirectoryChild Child(InodeId directory, uint64_t rank) const override {
    auto child = std::next(by_id_.at(ToNumber(directory))->children.begin(), static_cast<long>(rank));
    return {child->first, child->second->id};
  }
  std::string_view LinkTarget(InodeId symlink) const override { return by_id_.at(ToNumber(symlink))->target; }
  uint64_t XattrCount(InodeId inode) const override { return by_id_.at(ToNumber(inode))->xattrs.size(); }
  Xattr XattrAt(InodeId inode, uint64_t index) const override {
    auto xattr = std::next(by_id_.at(ToNumber(inode))->xattrs.begin(), static_cast<long>(index));
    return {xattr->first, xattr->second};
  }

  uint32_t span_count() const override { return static_cast<uint32_t>(extents_.size()); }
  SpanExtent Extent(SpanId span) const override { return extents_.at(ToIndex(span)); }
  oci::Digest SpanDigest(SpanId span) const override { return digests_.at(ToIndex(span)); }
  Status LoadWindow(SpanId, Window& out) const override { return out.fill(std::byte{0}), OkStatus(); }
  SpanId SpanAt(uint64_t uncompressed) const override {
    if (extents_.empty()) return SpanId{};
    const auto after = [](uint64_t place, const SpanExtent& extent) { return place < extent.uncompressed.end; };
    const auto found = std::upper_bound(extents_.begin(), std::prev(extents_.end()), uncompressed, after);
    return SpanId{static_cast<uint32_t>(found - extents_.begin())};
  }

  uint64_t content_count() const override { return 0; }
  FileContent Content(uint64_t) const override { return {}; }
  uint64_t FirstContentEndingAfter(uint64_t) const override { return 0; }
  uint64_t header_count() const override { return 0; }
  MemberHeader Header(uint64_t) const override { return {}; }
  uint64_t FirstHeaderEndingAfter(uint64_t) const override { return 0; }

 private:
  std::pair<FakeInode*, std::string> Split(const std::string& path) {
    FakeInode* directory = &inodes_.front();
    size_t begin = 0;
    for (size_t slash; (slash = path.find('/', begin)) != std::string::npos; begin = slash + 1) {
      directory = directory->children.at(path.substr(begin, slash - begin));
    }
    return {directory, path.substr(begin)};
  }
  FakeInode& Place(const std::string& path, uint32_t mode) {
    FakeInode* parent = nullptr;
    std::string name;
    if (!inodes_.empty()) std::tie(parent, name) = Split(path);
    FakeInode& inode = inodes_.emplace_back();
    inode.attributes.mode = mode;
    inode.attributes.mtime_seconds = 1'700'000'000;
    inode.attributes.mtime_nanoseconds = 123'456'789;
    inode.parent = parent ? parent : &inode;
    if (S_ISDIR(mode)) inode.attributes.link_count = 2;
    if (parent) parent->children[name] = &inode;
    if (parent && S_ISDIR(mode)) ++parent->attributes.link_count;
    return inode;
  }

  oci::LayerDigest layer_{oci::Digest::Of("a layer made by hand")};
  std::deque<FakeInode> inodes_;  // the root first
  std::vector<FakeInode*> by_id_;
  std::vector<SpanExtent> extents_;
  std::vector<oci::Digest> digests_;
  uint64_t tar_size_ = 0;
};

}  // namespace soci::test
