#include "bench/run/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

#include "indexer/base/spawn.h"

namespace soci::bench {
namespace {

constexpr size_t kMostOutput = 16 << 20, kKeptOutput = 8 << 20;

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

Child::Child(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  pipe_.Reset(ends[0]);
  const UniqueFd write_end(ends[1]);
  ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
  const auto pid = StartProgram({.arguments = std::move(arguments),
                                 .output = write_end.get(),
                                 .errors = write_end.get(),
                                 .environment = environment});
  if (!pid.ok()) throw std::runtime_error(std::string(Message(pid.status())));
  pid_ = *pid;
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
  exit_code_ = ExitCodeOf(status);
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
