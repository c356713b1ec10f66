#include "indexer/table/layer_tree.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "indexer/table/layer_path.h"
#include "indexer/tar/whiteout.h"

namespace soci::table {
namespace {

constexpr size_t kTextBlock = 64 << 10;
constexpr std::string_view kXattrRecord = "SCHILY.xattr.";
constexpr int kMaxLinksInPath = 40;  // the kernel's
// Nobody's layer is deeper than this on average; a hostile one may not keep us busy.
constexpr size_t kStepsPerMember = 64;
constexpr size_t kSpareSteps = size_t{1} << 20;

uint32_t TypeBits(tar::EntryType type) {
  switch (type) {
    case tar::EntryType::kDirectory:
      return S_IFDIR;
    case tar::EntryType::kSymlink:
      return S_IFLNK;
    case tar::EntryType::kCharDevice:
      return S_IFCHR;
    case tar::EntryType::kBlockDevice:
      return S_IFBLK;
    case tar::EntryType::kFifo:
      return S_IFIFO;
    case tar::EntryType::kRegular:
    case tar::EntryType::kHardLink:
      break;
  }
  return S_IFREG;
}

// containerd gives times that a 64-bit count of nanoseconds since 1970 cannot hold the time 0.
bool IsStorableTime(const tar::Entry& member) {
  constexpr int64_t kLast = INT64_MAX / 1'000'000'000;
  constexpr int64_t kLastNanoseconds = INT64_MAX % 1'000'000'000;
  if (member.mtime_seconds == kLast) return member.mtime_nanoseconds <= kLastNanoseconds;
  return member.mtime_seconds >= 0 && member.mtime_seconds < kLast;
}

// The largest number means "as it is" to chown(2), and what is there has just been made by root.
uint32_t OwnerOf(int64_t id) {
  const auto owner = static_cast<uint32_t>(id);
  return owner == UINT32_MAX ? 0 : owner;
}

// Extended attributes that a layer may carry and a file system keeps. trusted.* would let it speak to overlayfs
// (containerd leaves it out too); user.* exists on files and directories only.
bool IsCarriedXattr(std::string_view name, uint32_t mode) {
  if (name.size() > kMaxNameLength || name.find('\0') != std::string_view::npos) return false;
  const std::string_view family = name.substr(0, name.find('.') + 1);
  if (family.size() == name.size()) return false;
  if (family == "user.") return S_ISREG(mode) || S_ISDIR(mode);
  return family == "security." || name == "system.posix_acl_access" || name == "system.posix_acl_default";
}

}  // namespace

std::string_view TextPool::Keep(std::string_view text) {
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size()) {
    blocks_.emplace_back().reserve(std::max(kTextBlock, text.size()));
  }
  std::string& block = blocks_.back();
  block += text;
  return std::string_view(block).substr(block.size() - text.size());
}

LayerTree::LayerTree(size_t members, bool with_xattrs)
    : with_xattrs_(with_xattrs),
      implied_directories_left_(16 * members + 4096),
      steps_left_(kStepsPerMember * members + kSpareSteps) {
  inodes_.reserve(members + members / 8 + 1);
  Inode root;
  root.mode = S_IFDIR | 0755;
  inodes_.push_back(root);
}

LayerTree::Index LayerTree::Find(Index directory, std::string_view name) const {
  const auto found = children_.find({directory, name});
  return found == children_.end() ? kNone : found->second;
}

LayerTree::ChildRange LayerTree::ChildrenOf(Index directory) const {
  return {children_.lower_bound({directory, {}}), children_.lower_bound({directory + 1, {}})};
}

// Symlinks in paths can make a tree deeper than any one name says.
Status LayerTree::CheckDepth(Index directory, std::string_view name) const {
  if (inodes_[directory].path_length + 1 + name.size() <= kMaxPathLength) return OkStatus();
  return absl::InvalidArgumentError("its place in the tree is deeper than the kernel allows");
}

Result<LayerTree::Index> LayerTree::MakeParent(Index directory, std::string_view name) {
  SOCI_RETURN_IF_ERROR(CheckDepth(directory, name));
  if (implied_directories_left_ == 0) return absl::InvalidArgumentError("too many folders have no member of their own");
  --implied_directories_left_;
  const Index made = static_cast<Index>(inodes_.size());
  Inode inode;
  inode.mode = S_IFDIR | 0755;
  inode.implied = true;
  inode.parent = directory;
  inode.path_length = static_cast<uint32_t>(inodes_[directory].path_length + 1 + name.size());
  inodes_.push_back(std::move(inode));
  children_.emplace(std::pair(directory, texts_.Keep(name)), made);
  return made;
}

// Walks to the folder that holds the last component. What is missing on the way is made.
Result<LayerTree::Index> LayerTree::ParentOf(const std::vector<std::string_view>& path) {
  std::vector<std::string_view> ahead(path.rbegin() + 1, path.rend());  // next component last
  Index at = 0;
  int links = 0;
  while (!ahead.empty()) {
    const std::string_view name = ahead.back();
    ahead.pop_back();
    if (steps_left_ == 0) return absl::InvalidArgumentError("paths and symlinks are too deep");
    --steps_left_;
    if (name == "..") {  // from a link's target
      at = inodes_[at].parent;
      continue;
    }
    const Index next = Find(at, name);
    if (next == kNone) {
      SOCI_ASSIGN_OR_RETURN(at, MakeParent(at, name));
    } else if (S_ISDIR(inodes_[next].mode)) {
      at = next;
    } else if (S_ISLNK(inodes_[next].mode)) {
      if (++links > kMaxLinksInPath) return absl::InvalidArgumentError("too many symlinks in its path");
      std::string_view target = inodes_[next].link_target;
      if (target.front() == '/') at = 0;
      std::vector<std::string_view> steps;
      while (!target.empty()) {
        const size_t slash = target.find('/');
        const std::string_view step = target.substr(0, slash);
        target.remove_prefix(slash == std::string_view::npos ? target.size() : slash + 1);
        if (step.size() > kMaxNameLength)
          return absl::InvalidArgumentError("a symlink in its path has a name too long");
        if (!step.empty() && step != ".") steps.push_back(step);
      }
      ahead.insert(ahead.end(), steps.rbegin(), steps.rend());
    } else {
      return absl::InvalidArgumentError("its path goes through something that is no folder");
    }
  }
  return at;
}

Result<LayerTree::Index> LayerTree::HardLinkTarget(std::string_view target) {
  SOCI_ASSIGN_OR_RETURN(const std::vector<std::string_view> path, CleanPath(target));
  if (path.empty()) return absl::InvalidArgumentError("a hard link to the root");
  SOCI_ASSIGN_OR_RETURN(const Index parent, ParentOf(path));
  const Index found = Find(parent, path.back());
  if (found == kNone) return absl::InvalidArgumentError("a hard link to nothing that came before it in this layer");
  if (S_ISDIR(inodes_[found].mode)) return absl::InvalidArgumentError("a hard link to a folder");
  return found;
}

void LayerTree::SetAttributes(Inode& inode, const tar::Entry& member) {
  inode.implied = false;
  if (!S_ISLNK(inode.mode)) inode.mode = (inode.mode & S_IFMT) | (static_cast<uint32_t>(member.mode) & 07777);
  inode.uid = OwnerOf(member.uid);
  inode.gid = OwnerOf(member.gid);
  const bool storable = IsStorableTime(member);
  inode.mtime_seconds = storable ? member.mtime_seconds : 0;
  inode.mtime_nanoseconds = storable ? member.mtime_nanoseconds : 0;
  if (!with_xattrs_) return;
  for (auto record = member.pax.lower_bound(std::string(kXattrRecord)); record != member.pax.end(); ++record) {
    std::string_view name = record->first;
    if (name.substr(0, kXattrRecord.size()) != kXattrRecord) break;
    name.remove_prefix(kXattrRecord.size());
    if (!IsCarriedXattr(name, inode.mode)) continue;
    const std::string_view value = texts_.Keep(record->second);
    auto place = std::lower_bound(inode.xattrs.begin(), inode.xattrs.end(), name,
                                  [](const auto& xattr, std::string_view sought) { return xattr.first < sought; });
    if (place != inode.xattrs.end() && place->first == name) {
      place->second = value;
    } else {
      inode.xattrs.insert(place, {texts_.Keep(name), value});
    }
  }
}

Status LayerTree::AddWhiteout(const tar::Entry& member, Index directory, std::string_view name) {
  if (name == tar::kOpaqueWhiteout) {
    inodes_[directory].opaque = true;
    return OkStatus();
  }
  const std::string_view deleted = name.substr(tar::kWhiteoutPrefix.size());
  if (deleted.empty() || deleted == "." || deleted == "..") return absl::InvalidArgumentError("a whiteout of nothing");
  whiteouts_.push_back({directory, texts_.Keep(deleted), OwnerOf(member.uid), OwnerOf(member.gid)});
  return OkStatus();
}

Result<LayerTree::Index> LayerTree::Create(const tar::Entry& member, Index parent, std::string_view name) {
  SOCI_RETURN_IF_ERROR(CheckDepth(parent, name));
  Index made = static_cast<Index>(inodes_.size());
  if (member.type == tar::EntryType::kHardLink) {
    SOCI_ASSIGN_OR_RETURN(made, HardLinkTarget(member.link_name));
  } else {
    Inode inode;
    inode.mode = TypeBits(member.type);
    inode.parent = parent;
    inode.path_length = static_cast<uint32_t>(inodes_[parent].path_length + 1 + name.size());
    if (member.type == tar::EntryType::kSymlink) {
      if (member.link_name.empty() || member.link_name.size() > kMaxPathLength ||
          member.link_name.find('\0') != std::string::npos) {
        return absl::InvalidArgumentError("a symlink's target is empty, too long or has a NUL in it");
      }
      inode.mode |= 0777;
      inode.link_target = texts_.Keep(member.link_name);
    } else if (member.type == tar::EntryType::kRegular) {
      inode.content = member.content;
    } else if (member.type == tar::EntryType::kCharDevice || member.type == tar::EntryType::kBlockDevice) {
      inode.device_major = static_cast<uint32_t>(member.device_major);
      inode.device_minor = static_cast<uint32_t>(member.device_minor);
    }
    inodes_.push_back(std::move(inode));
  }
  children_[{parent, texts_.Keep(name)}] = made;
  SetAttributes(inodes_[made], member);
  return made;
}

Result<LayerTree::Index> LayerTree::Add(const tar::Entry& member) {
  SOCI_ASSIGN_OR_RETURN(const std::vector<std::string_view> path, CleanPath(member.name));
  if (path.empty()) {
    // Its mode and owner are those of the folder it is applied to; only its age is worth keeping.
    if (member.type == tar::EntryType::kDirectory && IsStorableTime(member)) {
      inodes_[0].mtime_seconds = member.mtime_seconds;
      inodes_[0].mtime_nanoseconds = member.mtime_nanoseconds;
    }
    return kNone;
  }
  SOCI_ASSIGN_OR_RETURN(const Index parent, ParentOf(path));
  const std::string_view name = path.back();
  if (name.substr(0, tar::kWhiteoutPrefix.size()) == tar::kWhiteoutPrefix) {
    SOCI_RETURN_IF_ERROR(AddWhiteout(member, parent, name));
    return kNone;
  }
  const Index existing = Find(parent, name);
  if (existing != kNone) {
    if (S_ISDIR(inodes_[existing].mode) && member.type == tar::EntryType::kDirectory) {
      SetAttributes(inodes_[existing], member);
      return kNone;
    }
    children_.erase({parent, name});  // with everything below: it cannot be reached any more
  }
  SOCI_ASSIGN_OR_RETURN(const Index made, Create(member, parent, name));
  return member.type == tar::EntryType::kRegular ? made : kNone;
}

void LayerTree::AddWhiteouts() {
  for (const Whiteout& whiteout : whiteouts_) {
    const Index made = static_cast<Index>(inodes_.size());
    if (!children_.emplace(std::pair(whiteout.directory, whiteout.name), made).second) continue;
    Inode inode;
    inode.mode = S_IFCHR;
    inode.uid = whiteout.uid;
    inode.gid = whiteout.gid;
    inode.parent = whiteout.directory;
    inodes_.push_back(std::move(inode));
  }
  whiteouts_.clear();
}

}  // namespace soci::table
