#include "snapshotter/telemetry/admin_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>

#include "indexer/base/log.h"
#include "snapshotter/telemetry/unix_socket.h"

namespace soci {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);
constexpr size_t kLongestRequest = 64 << 10;
constexpr size_t kLongestAnswer = 64 << 20;

bool IsRoot(const UniqueFd& client) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == 0;
}

}  // namespace

Result<std::unique_ptr<AdminServer>> AdminServer::Start(const std::string& socket_path, Handler handler) {
  SOCI_ASSIGN_OR_RETURN(UniqueFd listener, ListenUnix(socket_path));
  UniqueFd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop) return ErrnoStatus(errno, "eventfd");
  return std::unique_ptr<AdminServer>(
      new AdminServer(socket_path, std::move(handler), std::move(listener), std::move(stop)));
}

AdminServer::AdminServer(std::string socket_path, Handler handler, UniqueFd listener, UniqueFd stop)
    : socket_path_(std::move(socket_path)),
      handler_(std::move(handler)),
      listener_(std::move(listener)),
      stop_(std::move(stop)),
      thread_([this] { Serve(); }) {}

AdminServer::~AdminServer() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
  ::unlink(socket_path_.c_str());
}

void AdminServer::Serve() {
  while (true) {
    pollfd polls[] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(polls, 2, -1) < 0 && errno != EINTR) return;
    if (polls[1].revents != 0) return;
    if (polls[0].revents == 0) continue;
    const UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client) Answer(client);
  }
}

void AdminServer::Answer(const UniqueFd& client) {
  if (!IsRoot(client)) return;
  auto request = ReceiveLine(client, kLongestRequest, kPatience);
  if (!request.ok()) return;  // a probe, such as another daemon's that looks whether we live
  if (Status sent = SendLine(client, handler_(*request), kPatience); !sent.ok()) {
    log::Debug("admin socket: {}", Message(sent));
  }
}

Result<std::string> AskAdmin(const std::string& socket_path, std::string_view request) {
  SOCI_ASSIGN_OR_RETURN(UniqueFd socket, ConnectUnix(socket_path));
  SOCI_RETURN_IF_ERROR(SendLine(socket, request, kPatience));
  auto answer = ReceiveLine(socket, kLongestAnswer, 2 * kPatience);
  if (!answer.ok()) return Annotate(answer.status(), socket_path);
  return answer;
}

}  // namespace soci
