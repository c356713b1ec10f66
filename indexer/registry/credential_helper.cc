#include "indexer/registry/credential_helper.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "indexer/base/spawn.h"
#include "indexer/base/unique_fd.h"
#include "indexer/base/units.h"

namespace soci {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kOutputLimit = 1_MiB;
constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// The helper process and our ends of its standard input and output (one socket, so that a write to a helper that is
// gone is an error and no signal).
struct Child {
  pid_t pid = -1;
  UniqueFd socket;
};

std::map<std::string, std::string> Environment(const CredentialHelperOptions& options) {
  std::map<std::string, std::string> environment;
  if (std::getenv("HOME") == nullptr && !options.home.empty()) environment["HOME"] = options.home;
  if (std::getenv("PATH") == nullptr) environment["PATH"] = kDefaultPath;
  return environment;
}

bool IsPlainName(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

Result<Child> Spawn(const std::string& program, const CredentialHelperOptions& options) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return ErrnoStatus(errno, program);
  Child child;
  child.socket.Reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  SOCI_ASSIGN_OR_RETURN(child.pid, StartProgram({.arguments = {program, "get"},
                                                 .input = theirs.get(),
                                                 .output = theirs.get(),
                                                 .environment = Environment(options)}));
  return child;
}

Status SendServer(const Child& child, const std::string& server) {
  std::string line = server + "\n";
  size_t sent = 0;
  while (sent < line.size()) {
    ssize_t count = ::send(child.socket.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "writing to it");
    sent += static_cast<size_t>(count);
  }
  ::shutdown(child.socket.get(), SHUT_WR);
  return OkStatus();
}

Result<std::string> ReadOutput(const Child& child, SteadyClock::time_point deadline) {
  std::string output;
  std::array<char, 4096> buffer;
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (left.count() <= 0) return absl::DeadlineExceededError("it did not answer in time");
    pollfd wait{child.socket.get(), POLLIN, 0};
    int ready = ::poll(&wait, 1, static_cast<int>(left.count()));
    if (ready <= 0) continue;
    ssize_t count = ::recv(child.socket.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return output;
    output.append(buffer.data(), static_cast<size_t>(count));
    if (output.size() > kOutputLimit) return absl::ResourceExhaustedError("it printed more than 1 MiB");
  }
}

// The exit code; the group is killed when time is over, so the wait always ends.
Result<int> Collect(pid_t pid, SteadyClock::time_point deadline) {
  int status = 0;
  while (true) {
    pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) return ExitCodeOf(status);
    if (ended < 0 && errno != EINTR) return ErrnoStatus(errno, "waiting for it");
    if (SteadyClock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return absl::DeadlineExceededError("it did not end in time");
}

// Helpers say "credentials not found" in their own words, on standard output, with exit code 1.
bool SaysNotFound(std::string_view output) {
  return output.find("credentials not found") != std::string_view::npos ||
         output.find("The specified item could not be found") != std::string_view::npos;
}

}  // namespace

Result<Credential> ParseHelperAnswer(std::string_view json) {
  auto document = nlohmann::json::parse(json.begin(), json.end(), nullptr, false);
  if (!document.is_object()) return absl::InvalidArgumentError("its answer is not a JSON object");
  auto text = [&document](const char* key) {
    auto found = document.find(key);
    return found != document.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  Credential credential;
  credential.username = text("Username");
  credential.secret = text("Secret");
  if (credential.secret.empty()) return absl::InvalidArgumentError("its answer holds no secret");
  if (credential.username == "<token>") {
    credential.username.clear();
    credential.identity_token = std::exchange(credential.secret, "");
  }
  return credential;
}

Result<std::optional<Credential>> RunCredentialHelper(const std::string& name, const std::string& server,
                                                      const CredentialHelperOptions& options) {
  if (!IsPlainName(name)) return absl::InvalidArgumentError("a credential helper's name must be a plain name");
  std::string program = "docker-credential-" + name;
  std::string what = fmt::format("credential helper {} for {}", name, server);
  SteadyClock::time_point deadline = SteadyClock::now() + options.timeout;
  Result<Child> child = Spawn(program, options);
  if (!child.ok()) return Annotate(child.status(), what);

  Status sent = SendServer(*child, server);
  Result<std::string> output = ReadOutput(*child, deadline);
  Result<int> exit_code = Collect(child->pid, output.ok() ? deadline : SteadyClock::now());
  if (!output.ok()) {
    std::string hint = std::getenv("HOME") == nullptr ? " (HOME is not set)" : "";
    return Annotate(output.status(), what + hint);
  }
  if (!exit_code.ok()) return Annotate(exit_code.status(), what);
  if (*exit_code != 0) {
    if (SaysNotFound(*output)) return std::optional<Credential>();
    return absl::UnavailableError(fmt::format("{}: ended with code {}", what, *exit_code));
  }
  Result<Credential> credential = ParseHelperAnswer(*output);
  if (!credential.ok()) return Annotate(sent.ok() ? credential.status() : sent, what);
  credential->source = "credential helper " + name;
  return std::optional<Credential>(std::move(*credential));
}

}  // namespace soci
