#include "tests/e2e/support/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "tests/support/sweep.h"

extern char** environ;

namespace soci::test {

Sandbox::Sandbox(Report report) : report_(std::move(report)) {
  const char* base = std::getenv("TMPDIR");
  // Short: unix sockets and 127 lower directories have to fit.
  std::string pattern = std::string(base && *base ? base : "/tmp") + "/soci-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a directory like " + pattern);
  root_ = std::filesystem::canonical(pattern).string();
  name_ = std::filesystem::path(root_).filename().string();

  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  UniqueFd read_end(ends[0]);
  guardian_input_.Reset(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, read_end.get(), 0);
  // Beside the other programs, wherever they were put.
  const char* programs = std::getenv("SOCI_TEST_PROGRAMS");
  std::string program = programs ? std::string(programs) + "/soci-test-guardian" : SOCI_GUARDIAN;
  // The guardian's own command line must not look like the sandbox's: the trailing slash is what the sweep looks for.
  std::array<char*, 4> arguments = {program.data(), root_.data(), name_.data(), nullptr};
  const int error = ::posix_spawn(&guardian_, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + program);
}

Sandbox::~Sandbox() {
  for (const std::string& left : Sweep(root_, name_)) {
    if (report_) {
      report_(left);
    } else {
      ADD_FAILURE() << "left behind: " << left;
    }
  }
  guardian_input_.Reset();
  ::waitpid(guardian_, nullptr, 0);
}

}  // namespace soci::test
