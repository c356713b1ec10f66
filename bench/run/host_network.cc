#include "bench/run/host_network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/run/child.h"
#include "tests/e2e/support/process.h"

namespace soci::bench {
namespace {

constexpr int kMostHosts = 60000, kHostsInBlock = 250;

[[noreturn]] void ThrowErrno(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

// What happens there happens to a thread that ends: ours stays where it is.
void OnThreadOfItsOwn(const std::function<void()>& act) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      act();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

void Ip(const std::string& line) {
  std::vector<std::string> arguments = {"ip"};
  std::istringstream words(line);
  for (std::string word; words >> word;) arguments.push_back(word);
  const test::CommandResult done = test::RunCommand(arguments);
  if (!done.ok()) throw std::runtime_error("ip " + line + ": " + LastLine(done.err));
}

struct Mount {
  std::string point, type;
};

std::vector<Mount> Mounts() {
  std::vector<Mount> mounts;
  std::ifstream stream("/proc/thread-self/mountinfo");
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    Mount mount;
    std::string word;
    for (int field = 0; field < 5; ++field) words >> mount.point;
    while (words >> word && word != "-") {
    }
    words >> mount.type;
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

}  // namespace

Hub::Hub() {
  OnThreadOfItsOwn([this] {
    if (::unshare(CLONE_NEWNET) != 0) ThrowErrno("cannot make a network namespace");
    fd_.Reset(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    if (!fd_) ThrowErrno("/proc/thread-self/ns/net");
    Ip("link set lo up");
    Ip(fmt::format("address add {}/32 dev lo", kAddress));
  });
}

void Hub::EnterAsHost() const {
  const int number = hosts_++;
  if (number >= kMostHosts) throw std::runtime_error("too many hosts");
  EnterOwnMounts();
  if (::unshare(CLONE_NEWNET) != 0) ThrowErrno("cannot make a network namespace");
  const std::string address = fmt::format("198.18.{}.{}", 1 + number / kHostsInBlock, 1 + number % kHostsInBlock),
                    port = fmt::format("host{}", number);
  Ip("link set lo up");
  Ip(fmt::format("link add uplink type veth peer name {} netns /proc/{}/fd/{}", port, ::getpid(), fd_.get()));
  Ip(fmt::format("address add {}/32 dev uplink", address));
  Ip("link set uplink up");
  Ip(fmt::format("route add {} dev uplink", kAddress));
  OnThreadOfItsOwn([&] {
    if (::setns(fd_.get(), CLONE_NEWNET) != 0) ThrowErrno("cannot enter the hub");
    Ip(fmt::format("link set {} up", port));
    Ip(fmt::format("route add {} dev {}", address, port));
  });
}

void EnterOwnMounts() {
  // A thread that shares its working directory with others may not change what it sees.
  if (::unshare(CLONE_FS | CLONE_NEWNS) != 0) ThrowErrno("cannot make a mount namespace");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) ThrowErrno("cannot set mounts apart");
  std::vector<Mount> mounts = Mounts();
  std::reverse(mounts.begin(), mounts.end());  // later ones lie on earlier ones
  for (const Mount& mount : mounts) {
    const bool of_containers = mount.type == "overlay" || mount.type.rfind("fuse", 0) == 0;
    if (of_containers && mount.point != "/") ::umount2(mount.point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  }
}

}  // namespace soci::bench
