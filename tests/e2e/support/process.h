// Programs that tests start: run to the end with their output, or kept in the background and stopped by pid.
//
// What cannot be started throws std::runtime_error, which gtest reports as the test's failure. One thread per object.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace soci::test {

struct ProcessOptions {
  std::map<std::string, std::string> environment = {};  // on top of ours
  std::string directory = {};                           // working directory; "" for ours
};

struct CommandResult {
  int exit_code = -1;  // 128 + signal if a signal ended it
  std::string out;
  std::string err;
  bool timed_out = false;  // and was killed

  bool ok() const { return exit_code == 0; }
};

// Runs to the end, without standard input.
CommandResult RunCommand(const std::vector<std::string>& arguments,
                         std::chrono::seconds timeout = std::chrono::seconds(60), const ProcessOptions& options = {});

class Process {
 public:
  // Standard output and error are appended to `log`.
  Process(std::vector<std::string> arguments, std::string log, const ProcessOptions& options = {});
  ~Process();  // as Stop()
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& log() const { return log_; }
  bool Running();
  void Signal(int signal);
  // SIGTERM, and SIGKILL if it is still there after `grace`. Returns the exit code as in CommandResult.
  int Stop(std::chrono::seconds grace = std::chrono::seconds(10));
  int Kill();
  // Waits until it ends by itself.
  int Wait(std::chrono::seconds timeout);

 private:
  bool Reap(bool block);

  const std::string log_;
  pid_t pid_ = -1;
  int status_ = -1;
  bool ended_ = false;
};

// Calls `condition` until it is true or the time is over; false then.
template <typename Condition>
bool WaitUntil(Condition condition, std::chrono::milliseconds timeout = std::chrono::seconds(20));

void SleepBetweenPolls();

template <typename Condition>
bool WaitUntil(Condition condition, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    SleepBetweenPolls();
  }
  return true;
}

}  // namespace soci::test
