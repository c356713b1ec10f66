// Starts other programs, all in the same way: looked for in PATH, in a process group of their own (Ctrl-C reaches only
// who started them), every signal at its default and none blocked, no descriptor of ours but the three standard ones.
//
// Who starts one waits for it; nothing here does. Any thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "indexer/base/result.h"

namespace soci {

struct ProgramStart {
  std::vector<std::string> arguments;                   // the first is its name
  int input = -1, output = -1, errors = -1;             // descriptors, still the caller's; -1: /dev/null
  std::map<std::string, std::string> environment = {};  // on top of ours
  std::string directory = {};                           // its working directory; empty: ours
};

// Its process. kNotFound if there is no such program.
Result<pid_t> StartProgram(ProgramStart start);

// Of a program that was waited for: 128 + signal if a signal ended it.
int ExitCodeOf(int wait_status);

}  // namespace soci
