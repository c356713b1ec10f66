// A program whose output is passed on, and searched for a text on the way.
//
// It gets a process group of its own, so that Ctrl-C reaches only who started it. The destructor kills it. One thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

namespace soci {

class WatchedProgram {
 public:
  // `arguments` begin with its name, looked for in PATH. `text`: what is searched for; empty: nothing.
  static Result<std::unique_ptr<WatchedProgram>> Start(std::vector<std::string> arguments, std::string text);
  ~WatchedProgram();
  WatchedProgram(const WatchedProgram&) = delete;
  WatchedProgram& operator=(const WatchedProgram&) = delete;

  // Passes output on until there is none for so long, or the program has ended and all of it is passed on.
  void Wait(std::chrono::milliseconds patience);
  void Signal(int signal) const;

  bool has_said_it() const { return has_said_it_; }  // the text, on one line of either output
  bool ended() const { return ended_; }
  int exit_code() const { return exit_code_; }  // 128 + signal if a signal ended it

 private:
  struct Output {
    UniqueFd pipe;
    int to = -1;
    std::string line = {};  // the last one, as far as it came
  };

  explicit WatchedProgram(std::string text) : text_(std::move(text)) {}
  bool PassOn(Output& output);
  void Search(Output& output, std::string_view piece);
  void Reap(bool block);

  const std::string text_;
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  std::array<Output, 2> outputs_;
  bool has_said_it_ = false;
  bool ended_ = false;
  int exit_code_ = -1;
};

}  // namespace soci
