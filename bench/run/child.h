// A program whose output and end are noticed the moment they happen, and whose processor time is known afterwards.
//
// Standard output and error come through one pipe. The program gets a process group of its own, so that Ctrl-C reaches
// only who started it. What cannot be started throws std::runtime_error. One thread per object; the destructor kills.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "indexer/base/unique_fd.h"

namespace soci::bench {

class Child {
 public:
  // `environment` comes on top of ours.
  explicit Child(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Returns when there is new output, when it has ended, or after `patience`.
  void Wait(std::chrono::milliseconds patience);

  bool ended() const { return ended_; }
  int exit_code() const { return exit_code_; }           // 128 + signal if a signal ended it
  double cpu_seconds() const { return cpu_seconds_; }    // of it and its children; known when it has ended
  const std::string& output() const { return output_; }  // its beginning and its end, if it is much
  pid_t pid() const { return pid_; }
  void Signal(int signal);

 private:
  void Read();
  void Reap(bool block);

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  UniqueFd pipe_;
  std::string output_;
  bool ended_ = false;
  int exit_code_ = -1;
  double cpu_seconds_ = 0;
};

// The last line that is not blank: what a program that failed has to say.
std::string LastLine(const std::string& output);

}  // namespace soci::bench
