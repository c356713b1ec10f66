#include "indexer/base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

extern char** environ;

namespace soci {
namespace {

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void Standard(int number, int fd) {
    if (fd >= 0) {
      posix_spawn_file_actions_adddup2(&actions_, fd, number);
    } else {
      posix_spawn_file_actions_addopen(&actions_, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0);
    }
  }
  void CloseOthers() { posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1); }
  void ChangeTo(const std::string& directory) {
    if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str());
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

std::vector<std::string> Environment(const std::map<std::string, std::string>& on_top) {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (on_top.count(text.substr(0, text.find('='))) == 0) environment.push_back(text);
  }
  for (const auto& [name, value] : on_top) environment.push_back(name + "=" + value);
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<pid_t> StartProgram(ProgramStart start) {
  if (start.arguments.empty() || start.arguments[0].empty()) return absl::InvalidArgumentError("an empty command line");
  const std::string name = start.arguments[0];
  FileActions actions;
  actions.Standard(STDIN_FILENO, start.input);
  actions.Standard(STDOUT_FILENO, start.output);
  actions.Standard(STDERR_FILENO, start.errors);
  actions.CloseOthers();
  actions.ChangeTo(start.directory);
  const Attributes attributes;
  std::vector<std::string> environment = Environment(start.environment);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, name.c_str(), actions.get(), attributes.get(),
                                   Pointers(start.arguments).data(), Pointers(environment).data());
  if (error == ENOENT && start.directory.empty()) return absl::NotFoundError(name + ": no such program in PATH");
  if (error != 0) return ErrnoStatus(error, "starting " + name);
  return pid;
}

int ExitCodeOf(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace soci
