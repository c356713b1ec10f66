#include "tests/e2e/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <thread>

#include "indexer/base/spawn.h"
#include "indexer/base/unique_fd.h"

namespace soci::test {
namespace {

pid_t Spawn(std::vector<std::string> arguments, int out, int err, const ProcessOptions& options) {
  const auto pid = StartProgram({.arguments = std::move(arguments),
                                 .output = out,
                                 .errors = err,
                                 .environment = options.environment,
                                 .directory = options.directory});
  if (!pid.ok()) throw std::runtime_error(std::string(Message(pid.status())));
  return *pid;
}

// Reads both pipes until they end; false when the time is over first.
bool ReadAll(int out, int err, std::chrono::steady_clock::time_point deadline, CommandResult& result) {
  std::array<pollfd, 2> fds = {pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
  std::array<std::string*, 2> texts = {&result.out, &result.err};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    if (::poll(fds.data(), fds.size(), static_cast<int>(left)) <= 0) continue;
    for (size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].revents == 0) continue;
      std::array<char, 4096> piece;
      const ssize_t count = ::read(fds[i].fd, piece.data(), piece.size());
      if (count > 0) {
        texts[i]->append(piece.data(), static_cast<size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        fds[i].fd = -1;
      }
    }
  }
  return true;
}

std::array<UniqueFd, 2> Pipe() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

void SleepBetweenPolls() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

CommandResult RunCommand(const std::vector<std::string>& arguments, std::chrono::seconds timeout,
                         const ProcessOptions& options) {
  std::array<UniqueFd, 2> out = Pipe(), err = Pipe();
  CommandResult result;
  const pid_t pid = Spawn(arguments, out[1].get(), err[1].get(), options);
  out[1].Reset();
  err[1].Reset();
  if (!ReadAll(out[0].get(), err[0].get(), std::chrono::steady_clock::now() + timeout, result)) {
    result.timed_out = true;
    result.err += "\n(killed after " + std::to_string(timeout.count()) + " s)";
    ::kill(pid, SIGKILL);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = ExitCodeOf(status);
  return result;
}

Process::Process(std::vector<std::string> arguments, std::string log, const ProcessOptions& options)
    : log_(std::move(log)) {
  UniqueFd file(::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file) throw std::runtime_error("cannot write " + log_);
  pid_ = Spawn(std::move(arguments), file.get(), file.get(), options);
}

Process::~Process() { Stop(); }

bool Process::Reap(bool block) {
  if (ended_) return true;
  pid_t reaped;
  do {
    reaped = ::waitpid(pid_, &status_, block ? 0 : WNOHANG);
  } while (reaped < 0 && errno == EINTR);
  ended_ = reaped == pid_;
  return ended_;
}

bool Process::Running() { return !Reap(false); }

void Process::Signal(int signal) {
  if (Running()) ::kill(pid_, signal);
}

int Process::Wait(std::chrono::seconds timeout) {
  if (!WaitUntil([this] { return Reap(false); }, timeout)) {
    throw std::runtime_error("process " + std::to_string(pid_) + " did not end");
  }
  return ExitCodeOf(status_);
}

int Process::Stop(std::chrono::seconds grace) {
  Signal(SIGTERM);
  if (!WaitUntil([this] { return Reap(false); }, grace)) Kill();
  return ExitCodeOf(status_);
}

int Process::Kill() {
  Signal(SIGKILL);
  Reap(true);
  return ExitCodeOf(status_);
}

}  // namespace soci::test
