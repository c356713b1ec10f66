#include "snapshotter/service/socket_path.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "indexer/base/file_io.h"

namespace soci {
namespace {

// What connecting to the socket says: 0 if somebody answers.
int ConnectError(const sockaddr_un& address) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return errno;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return 0;
  return errno == EAGAIN ? 0 : errno;  // EAGAIN: a living one whose queue is full
}

}  // namespace

Status ClaimSocketPath(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return absl::InvalidArgumentError(
        fmt::format("{}: too long for a socket, at most {} bytes", path, sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.data(), path.size());

  SOCI_RETURN_IF_ERROR(MakeDirectories(std::filesystem::path(path).parent_path().string(), 0711));
  struct stat attributes {};
  if (::lstat(path.c_str(), &attributes) != 0) return errno == ENOENT ? OkStatus() : ErrnoStatus(errno, path);
  if (!S_ISSOCK(attributes.st_mode)) {
    return absl::FailedPreconditionError(fmt::format("{}: is there and is not a socket", path));
  }
  const int error = ConnectError(address);
  if (error == 0) return absl::FailedPreconditionError(fmt::format("{}: in use by another process", path));
  if (error != ECONNREFUSED && error != ENOENT) return ErrnoStatus(error, path);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoStatus(errno, path);
  return OkStatus();
}

}  // namespace soci
