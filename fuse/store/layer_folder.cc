#include "fuse/store/layer_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include <cerrno>

#include "indexer/base/file_io.h"

namespace soci {
namespace {

// open(2) below `folder`; with `may_block` false only if all names are in the kernel's cache.
UniqueFd OpenBelow(int folder, const std::string& path, int flags, bool may_block) {
  if (may_block) return UniqueFd(::openat(folder, path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
  how.resolve = RESOLVE_CACHED;
  const long file = ::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
  // Kernels before 5.12 do not know the flag: somebody who may block has to do it.
  if (file < 0 && (errno == EINVAL || errno == ENOSYS || errno == EPERM)) errno = EAGAIN;
  return UniqueFd(static_cast<int>(file));
}

// What errno says about opening `path`. EAGAIN is how a name that is not in the kernel's cache shows.
Status OpenFailure(const std::string& path) {
  return errno == EAGAIN ? absl::UnavailableError("would block") : ErrnoStatus(errno, path);
}

}  // namespace

LayerFolder::LayerFolder(std::string path, std::shared_ptr<const LayerTable> table)
    : path_(std::move(path)), table_(std::move(table)) {}

std::string LayerFolder::BackingFile(uint64_t content_begin) const {
  return fmt::format("{}/data/{:02x}/{}", path_, (content_begin / 512) & 0xff, content_begin);
}

void LayerFolder::FindNames() const {
  names_.resize(table_->inode_count() + 1);
  for (uint64_t number = 1; number <= table_->inode_count(); ++number) {
    const InodeId folder{number};
    const uint64_t count = table_->ChildCount(folder);
    for (uint64_t rank = 0; rank < count; ++rank) {
      NameOf& name = names_[ToNumber(table_->Child(folder, rank).inode)];
      if (name.folder == 0) name = {static_cast<uint32_t>(number), static_cast<uint32_t>(rank)};
    }
  }
}

std::string LayerFolder::PathInLayer(InodeId inode) const {
  std::call_once(names_once_, [this] { FindNames(); });
  std::vector<std::string_view> names;
  for (uint64_t at = ToNumber(inode); at > 1 && at < names_.size(); at = names_[at].folder) {
    names.push_back(table_->Child(InodeId{names_[at].folder}, names_[at].rank).name);
  }
  if (names.empty()) return ".";
  std::string path;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!path.empty()) path += '/';
    path += *name;
  }
  return path;
}

// The tree's own path and a path in it may together be longer than one call takes.
Result<UniqueFd> LayerFolder::OpenInTree(const std::string& tree, InodeId file, int flags, bool may_block) const {
  const std::string name = PathInLayer(file);
  const UniqueFd root = OpenBelow(AT_FDCWD, tree, O_PATH | O_DIRECTORY, may_block);
  if (!root) return OpenFailure(tree);
  UniqueFd opened = OpenBelow(root.get(), name, flags, may_block);
  if (!opened) return OpenFailure(tree + "/" + name);
  return opened;
}

Result<UniqueFd> LayerFolder::OpenExisting(InodeId file, int flags, bool may_block) const {
  const auto is_absent = [](const Status& status) { return StatusErrno(status) == ENOENT; };
  if (stage_ != Stage::kSealed) {
    const std::string backing = BackingFile(table_->Attributes(file)->content.begin);
    UniqueFd opened = OpenBelow(AT_FDCWD, backing, flags, may_block);
    if (opened) return opened;
    const Status failure = OpenFailure(backing);
    // Only now: it may have been moved since we looked.
    if (!is_absent(failure) || stage_ == Stage::kBackingFiles) return failure;
    Result<UniqueFd> moved = OpenInTree(sealing(), file, flags, may_block);
    if (moved.ok() || !is_absent(moved.status())) return moved;
  }
  return OpenInTree(sealed(), file, flags, may_block);
}

Result<UniqueFd> LayerFolder::OpenForReading(InodeId file, bool may_block) const {
  return OpenExisting(file, O_RDONLY, may_block);
}

Result<UniqueFd> LayerFolder::OpenForWriting(InodeId file, UncompressedRange whole, bool written_whole) const {
  if (stage_ != Stage::kBackingFiles) {
    Result<UniqueFd> opened = OpenExisting(file, O_RDWR, true);
    if (opened.ok() || StatusErrno(opened.status()) != ENOENT) return opened;
  }
  const std::string path = BackingFile(whole.begin);
  UniqueFd made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!made && errno == ENOENT) {
    SOCI_RETURN_IF_ERROR(MakeDirectories(path.substr(0, path.rfind('/')), 0700));
    made = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  }
  if (!made) return ErrnoStatus(errno, path);
  if (!written_whole && ::ftruncate(made.get(), static_cast<off_t>(whole.size())) != 0) return ErrnoStatus(errno, path);
  return made;
}

}  // namespace soci
