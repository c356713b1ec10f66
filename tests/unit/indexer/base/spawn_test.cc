#include "indexer/base/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "indexer/base/unique_fd.h"

namespace soci {
namespace {

struct Ended {
  int exit_code = -1;
  std::string output;
};

Ended RunShell(const std::string& script, ProgramStart start = {}) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  start.arguments = {"sh", "-c", script};
  start.output = theirs.get();
  const Result<pid_t> pid = StartProgram(std::move(start));
  EXPECT_TRUE(pid.ok()) << Message(pid.status());
  theirs.Reset();
  Ended ended;
  std::array<char, 4096> piece{};
  for (ssize_t count = 0; (count = ::read(ours.get(), piece.data(), piece.size())) > 0;) {
    ended.output.append(piece.data(), static_cast<size_t>(count));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(*pid, &status, 0), *pid);
  ended.exit_code = ExitCodeOf(status);
  return ended;
}

TEST(StartProgram, TheExitCodeSaysHowItEnded) {
  EXPECT_EQ(RunShell("exit 7").exit_code, 7);
  EXPECT_EQ(RunShell("kill -KILL $$").exit_code, 128 + SIGKILL);
}

TEST(StartProgram, AProgramThatIsNotThereIsNamed) {
  const Result<pid_t> pid = StartProgram({.arguments = {"no-such-program-here"}});
  EXPECT_EQ(pid.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Message(pid.status()), "no-such-program-here: no such program in PATH");
  EXPECT_EQ(StartProgram({.arguments = {}}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(StartProgram, TheEnvironmentComesOnTopOfOurs) {
  ::setenv("SOCI_SPAWN_TEST", "ours", 1);
  EXPECT_EQ(RunShell("echo $SOCI_SPAWN_TEST").output, "ours\n");
  EXPECT_EQ(RunShell("echo $SOCI_SPAWN_TEST", {.arguments = {}, .environment = {{"SOCI_SPAWN_TEST", "theirs"}}}).output,
            "theirs\n");
}

TEST(StartProgram, ItsInputIsEmptyAndItsDirectoryTheOneGiven) {
  EXPECT_EQ(RunShell("cat; pwd", {.arguments = {}, .directory = "/proc"}).output, "/proc\n");
}

TEST(StartProgram, ItHasAGroupOfItsOwnAndNoneOfOurDescriptors) {
  const UniqueFd inherited(::open("/proc/self/status", O_RDONLY));  // on purpose without O_CLOEXEC
  const std::string number = std::to_string(inherited.get());
  EXPECT_EQ(RunShell("test -e /proc/$$/fd/" + number).exit_code, 1);
  EXPECT_EQ(RunShell("read -r pid name state parent group rest </proc/$$/stat; test $group = $$").exit_code, 0);
}

TEST(StartProgram, NoSignalIsBlockedOrIgnored) {
  ::signal(SIGTERM, SIG_IGN);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  EXPECT_EQ(RunShell("kill -TERM $$; exit 3").exit_code, 128 + SIGTERM);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGTERM, SIG_DFL);
}

}  // namespace
}  // namespace soci
