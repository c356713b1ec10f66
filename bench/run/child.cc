#include "bench/run/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

extern char** environ;

namespace soci::bench {
namespace {

constexpr size_t kMostOutput = 16 << 20, kKeptOutput = 8 << 20;

std::vector<std::string> Environment(const std::map<std::string, std::string>& ours) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (ours.count(text.substr(0, text.find('='))) == 0) environment.push_back(text);
  }
  for (const auto& [name, value] : ours) environment.push_back(name + "=" + value);
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t Spawn(std::vector<std::string> arguments, int output, const std::map<std::string, std::string>& ours) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> environment = Environment(ours);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0].c_str(), &actions, &attributes, Pointers(arguments).data(),
                                   Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + arguments[0] + ": " + std::strerror(error));
  return pid;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

Child::Child(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment) {
  if (arguments.empty()) throw std::runtime_error("an empty command line");
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  pipe_.Reset(ends[0]);
  UniqueFd write_end(ends[1]);
  ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
  pid_ = Spawn(std::move(arguments), write_end.get(), environment);
  pidfd_.Reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
}

Child::~Child() {
  if (ended_) return;
  ::kill(pid_, SIGKILL);
  Reap(true);
}

void Child::Wait(std::chrono::milliseconds patience) {
  if (ended_) return;
  std::array<pollfd, 2> fds = {pollfd{pipe_.get(), POLLIN, 0}, pollfd{pidfd_.get(), POLLIN, 0}};
  ::poll(fds.data(), fds.size(), static_cast<int>(patience.count()));
  Reap(false);
  Read();  // last: what it wrote before it ended is in the pipe by now
}

void Child::Read() {
  std::array<char, 16384> piece;
  while (pipe_) {
    const ssize_t count = ::read(pipe_.get(), piece.data(), piece.size());
    if (count > 0) {
      output_.append(piece.data(), static_cast<size_t>(count));
      if (output_.size() > kMostOutput) output_.erase(kKeptOutput / 2, output_.size() - kKeptOutput);
    } else if (count == 0) {
      pipe_.Reset();
    } else if (errno != EINTR) {
      return;
    }
  }
}

void Child::Reap(bool block) {
  int status = 0;
  rusage usage{};
  pid_t reaped;
  do {
    reaped = ::wait4(pid_, &status, block ? 0 : WNOHANG, &usage);
  } while (reaped < 0 && errno == EINTR);
  if (reaped != pid_) return;
  ended_ = true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  cpu_seconds_ = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

void Child::Signal(int signal) {
  if (!ended_) ::kill(pid_, signal);
}

std::string LastLine(const std::string& output) {
  const size_t last = output.find_last_not_of(" \t\r\n");
  if (last == std::string::npos) return "it said nothing";
  const size_t newline = output.find_last_of("\r\n", last);
  const size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return output.substr(begin, last + 1 - begin);
}

}  // namespace soci::bench
