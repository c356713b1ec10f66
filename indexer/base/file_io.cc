#include "indexer/base/file_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>

namespace soci {
namespace {

// Removes `name` below the open folder `parent`, staying on `device`.
Status RemoveAt(int parent, const char* name, dev_t device, const std::string& path, const std::stop_token& stop) {
  if (stop.stop_requested()) return absl::CancelledError(fmt::format("removing {} was stopped", path));
  struct stat attributes {};
  if (::fstatat(parent, name, &attributes, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? OkStatus() : ErrnoStatus(errno, path);
  }
  if (attributes.st_dev != device) {
    return absl::FailedPreconditionError(fmt::format("{}: something is mounted there, not removed", path));
  }
  if (!S_ISDIR(attributes.st_mode)) {
    return ::unlinkat(parent, name, 0) == 0 || errno == ENOENT ? OkStatus() : ErrnoStatus(errno, path);
  }
  UniqueFd folder(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return ErrnoStatus(errno, path);
  UniqueFd listing(::dup(folder.get()));
  DIR* entries = ::fdopendir(listing.get());
  if (entries == nullptr) return ErrnoStatus(errno, path);
  listing.Release();
  Status status;
  while (const dirent* entry = ::readdir(entries)) {
    std::string_view child = entry->d_name;
    if (child == "." || child == "..") continue;
    status = RemoveAt(folder.get(), entry->d_name, device, path + "/" + entry->d_name, stop);
    if (!status.ok()) break;
  }
  ::closedir(entries);
  SOCI_RETURN_IF_ERROR(status);
  return ::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? OkStatus() : ErrnoStatus(errno, path);
}

}  // namespace

Result<UniqueFd> OpenFile(const std::string& path, int flags, unsigned mode) {
  UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC, mode));
  if (!file) return ErrnoStatus(errno, path);
  return file;
}

Result<std::string> ReadFile(const std::string& path, uint64_t limit) {
  SOCI_ASSIGN_OR_RETURN(UniqueFd file, OpenFile(path, O_RDONLY));
  std::string contents;
  struct stat attributes {};
  if (::fstat(file.get(), &attributes) == 0 && attributes.st_size > 0) {
    // Growing step by step would need twice the memory. What a folder or a device says is no size.
    if (S_ISREG(attributes.st_mode)) contents.reserve(std::min(static_cast<uint64_t>(attributes.st_size), limit));
  }
  char piece[1 << 16];
  for (;;) {
    ssize_t count = ::read(file.get(), piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, path);
    if (count == 0) return contents;
    if (contents.size() + static_cast<size_t>(count) > limit) {
      return absl::ResourceExhaustedError(fmt::format("{}: larger than {} bytes", path, limit));
    }
    contents.append(piece, static_cast<size_t>(count));
  }
}

Status ReadFullAt(int fd, uint64_t offset, MutableByteSpan out, std::string_view name) {
  while (!out.empty()) {
    ssize_t count = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, name);
    if (count == 0) return absl::OutOfRangeError(fmt::format("{}: ends at {}, more was expected", name, offset));
    offset += static_cast<uint64_t>(count);
    out = out.subspan(static_cast<size_t>(count));
  }
  return OkStatus();
}

Status WriteFullAt(int fd, uint64_t offset, ByteSpan bytes, std::string_view name) {
  while (!bytes.empty()) {
    ssize_t count = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, name);
    offset += static_cast<uint64_t>(count);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return OkStatus();
}

namespace {

Status WriteAndRename(const std::string& path, const std::vector<std::string_view>& pieces, unsigned mode,
                      bool durable) {
  static std::atomic<unsigned> counter{0};
  const std::string temporary = fmt::format("{}.tmp-{}-{}", path, ::getpid(), counter++);
  auto write = [&]() -> Status {
    SOCI_ASSIGN_OR_RETURN(UniqueFd file, OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode));
    uint64_t offset = 0;
    for (const std::string_view piece : pieces) {
      SOCI_RETURN_IF_ERROR(WriteFullAt(file.get(), offset, AsBytes(piece), temporary));
      offset += piece.size();
    }
    if (durable && ::fsync(file.get()) != 0) return ErrnoStatus(errno, temporary);
    if (::rename(temporary.c_str(), path.c_str()) != 0) return ErrnoStatus(errno, path);
    return OkStatus();
  };
  if (Status status = write(); !status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  if (!durable) return OkStatus();
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return SyncDirectory(folder.empty() ? "." : folder);
}

}  // namespace

Status WriteFileAtomic(const std::string& path, std::string_view contents, unsigned mode) {
  return WriteAndRename(path, {contents}, mode, true);
}

Status WriteFileAtomic(const std::string& path, const std::vector<std::string_view>& pieces, unsigned mode) {
  return WriteAndRename(path, pieces, mode, true);
}

Status ReplaceFile(const std::string& path, std::string_view contents, unsigned mode) {
  return WriteAndRename(path, {contents}, mode, false);
}

Status MakeDirectories(const std::string& path, unsigned mode) {
  // From the end, as mostly all but the last is there.
  struct stat attributes {};
  const auto is_there = [&] { return ::stat(path.c_str(), &attributes) == 0 && S_ISDIR(attributes.st_mode); };
  if (path.empty() || is_there() || ::mkdir(path.c_str(), mode) == 0) return OkStatus();
  int error = errno;
  if (error == ENOENT) {
    SOCI_RETURN_IF_ERROR(MakeDirectories(std::filesystem::path(path).parent_path().string(), mode));
    if (::mkdir(path.c_str(), mode) == 0) return OkStatus();
    error = errno;
  }
  if (is_there()) return OkStatus();
  return ErrnoStatus(error == EEXIST ? ENOTDIR : error, path);
}

Status SyncDirectory(const std::string& path) {
  SOCI_ASSIGN_OR_RETURN(UniqueFd folder, OpenFile(path, O_RDONLY | O_DIRECTORY));
  return ::fsync(folder.get()) == 0 ? OkStatus() : ErrnoStatus(errno, path);
}

Status RemoveTree(const std::string& path, const std::stop_token& stop) {
  std::filesystem::path whole(path);
  while (whole.has_relative_path() && whole.filename().empty()) whole = whole.parent_path();
  const std::string folder = whole.parent_path().empty() ? "." : whole.parent_path().string();
  UniqueFd parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return errno == ENOENT ? OkStatus() : ErrnoStatus(errno, folder);
  struct stat attributes {};
  if (::fstat(parent.get(), &attributes) != 0) return ErrnoStatus(errno, folder);
  return RemoveAt(parent.get(), whole.filename().c_str(), attributes.st_dev, path, stop);
}

}  // namespace soci
