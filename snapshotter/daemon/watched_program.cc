#include "snapshotter/daemon/watched_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "indexer/base/spawn.h"

namespace soci {
namespace {

constexpr size_t kLongestLine = 64 << 10;

void WriteAll(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(to, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // whoever read it has gone; the program goes on
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace

Result<std::unique_ptr<WatchedProgram>> WatchedProgram::Start(std::vector<std::string> arguments, std::string text) {
  std::unique_ptr<WatchedProgram> program(new WatchedProgram(std::move(text)));
  std::array<UniqueFd, 2> theirs;
  for (size_t i = 0; i < theirs.size(); ++i) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
    program->outputs_[i].pipe.Reset(ends[0]);
    program->outputs_[i].to = i == 0 ? STDOUT_FILENO : STDERR_FILENO;
    theirs[i].Reset(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  SOCI_ASSIGN_OR_RETURN(
      program->pid_,
      StartProgram({.arguments = std::move(arguments), .output = theirs[0].get(), .errors = theirs[1].get()}));
  program->pidfd_.Reset(static_cast<int>(::syscall(SYS_pidfd_open, program->pid_, 0)));
  return program;
}

WatchedProgram::~WatchedProgram() {
  if (ended_ || pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  Reap(true);
}

void WatchedProgram::Signal(int signal) const {
  if (!ended_) ::kill(pid_, signal);
}

void WatchedProgram::Wait(std::chrono::milliseconds patience) {
  std::array<pollfd, 3> polls = {pollfd{outputs_[0].pipe.get(), POLLIN, 0}, pollfd{outputs_[1].pipe.get(), POLLIN, 0},
                                 pollfd{ended_ ? -1 : pidfd_.get(), POLLIN, 0}};
  ::poll(polls.data(), polls.size(), static_cast<int>(patience.count()));
  if (!ended_) Reap(false);
  for (Output& output : outputs_) {  // last: what it wrote before it ended is in the pipes by now
    while (PassOn(output)) {
    }
  }
}

bool WatchedProgram::PassOn(Output& output) {
  if (!output.pipe) return false;
  std::array<char, 16384> piece{};
  const ssize_t count = ::read(output.pipe.get(), piece.data(), piece.size());
  if (count < 0) return errno == EINTR;
  if (count == 0) {
    output.pipe.Reset();
    return false;
  }
  const std::string_view bytes(piece.data(), static_cast<size_t>(count));
  WriteAll(output.to, bytes);
  if (!text_.empty() && !has_said_it_) Search(output, bytes);
  return true;
}

void WatchedProgram::Search(Output& output, std::string_view piece) {
  while (!piece.empty()) {
    const size_t end = piece.find('\n');
    output.line.append(piece.substr(0, end));
    if (output.line.find(text_) != std::string::npos) has_said_it_ = true;
    if (output.line.size() > kLongestLine) output.line.erase(0, output.line.size() - text_.size());
    if (end == std::string_view::npos) return;
    output.line.clear();
    piece.remove_prefix(end + 1);
  }
}

void WatchedProgram::Reap(bool block) {
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::waitpid(pid_, &status, block ? 0 : WNOHANG);
  } while (reaped < 0 && errno == EINTR);
  if (reaped != pid_) return;
  ended_ = true;
  exit_code_ = ExitCodeOf(status);
}

}  // namespace soci
