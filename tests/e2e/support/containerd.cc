#include "tests/e2e/support/containerd.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace soci::test {
namespace {

std::string BinaryFolder() {
  const char* folder = std::getenv("SOCI_TEST_CONTAINERD_DIR");
  return folder ? folder : "";
}

}  // namespace

Containerd::Containerd(const Sandbox& sandbox, std::string snapshotter_socket, const std::string& snapshotter)
    : folder_(sandbox / "containerd"), address_(folder_ + "/c.sock"), namespace_(sandbox.name()) {
  std::filesystem::create_directories(folder_);
  WriteConfig(snapshotter_socket, snapshotter);
  const std::string version = RunCommand({Program("containerd"), "--version"}).out;
  std::smatch match;
  if (std::regex_search(version, match, std::regex(R"( v?([0-9]+)\.[0-9]+)"))) major_version_ = std::stoi(match[1]);
  Start();
}

Containerd::~Containerd() {
  if (!process_->Running()) return;
  for (const std::string& id : Names({"containers", "ls", "-q"})) RemoveContainer(id);
  Stop();
}

std::string Containerd::Program(const std::string& name) {
  const std::string folder = BinaryFolder();
  return folder.empty() ? name : folder + "/" + name;
}

// The shim is looked for in PATH, and has to be the one that belongs to this containerd.
ProcessOptions Containerd::Options() const {
  const std::string folder = BinaryFolder();
  const char* path = std::getenv("PATH");
  const std::string system = std::string(path ? path : "") + ":/usr/sbin:/usr/bin:/sbin:/bin";
  return {{{"PATH", folder.empty() ? system : folder + ":" + system}}, ""};
}

void Containerd::WriteConfig(const std::string& snapshotter_socket, const std::string& snapshotter) const {
  std::ofstream(folder_ + "/config.toml")
      << "version = 2\n"
      << "root = \"" << folder_ << "/root\"\nstate = \"" << folder_
      << "/state\"\n"
      // Not only what tests do not use: some of these write outside root and state.
      << "disabled_plugins = [\"io.containerd.grpc.v1.cri\", \"io.containerd.cri.v1.images\", "
         "\"io.containerd.cri.v1.runtime\", \"io.containerd.snapshotter.v1.aufs\", "
         "\"io.containerd.snapshotter.v1.btrfs\", \"io.containerd.snapshotter.v1.zfs\", "
         "\"io.containerd.snapshotter.v1.devmapper\", \"io.containerd.snapshotter.v1.blockfile\", "
         "\"io.containerd.nri.v1.nri\", \"io.containerd.tracing.processor.v1.otlp\", "
         "\"io.containerd.internal.v1.tracing\"]\n"
      << "[grpc]\n  address = \"" << address_ << "\"\n"
      << "[ttrpc]\n  address = \"" << address_ << ".ttrpc\"\n"
      << "[plugins.\"io.containerd.internal.v1.opt\"]\n  path = \"" << folder_ << "/opt\"\n"
      << "[plugins.\"io.containerd.gc.v1.scheduler\"]\n  schedule_delay = \"1ms\"\n  startup_delay = \"1ms\"\n"
      << "[proxy_plugins." << snapshotter << "]\n  type = \"snapshot\"\n  address = \"" << snapshotter_socket << "\"\n";
}

void Containerd::Start() {
  const std::string log = folder_ + "/log";
  process_ = std::make_unique<Process>(
      std::vector<std::string>{Program("containerd"), "--config", folder_ + "/config.toml"}, log, Options());
  const bool up = WaitUntil([this] { return !process_->Running() || Ctr({"version"}).ok(); });
  if (up && process_->Running()) return;
  std::ifstream stream(log);
  throw std::runtime_error("containerd does not start: " + std::string(std::istreambuf_iterator<char>(stream), {}));
}

void Containerd::Stop() { process_->Stop(); }

CommandResult Containerd::Ctr(std::vector<std::string> arguments, std::chrono::seconds timeout) const {
  return RunCommand(CtrLine(std::move(arguments)), timeout, Options());
}

std::vector<std::string> Containerd::CtrLine(std::vector<std::string> arguments) const {
  std::vector<std::string> line = {Program("ctr"), "--address", address_, "--namespace", namespace_};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

CommandResult Containerd::Pull(const std::string& snapshotter, const std::string& reference) const {
  std::vector<std::string> arguments = {"images", "pull", "--plain-http", "--snapshotter", snapshotter};
  // containerd 2 would let its transfer service pull, with the snapshotters of its own configuration only.
  if (major_version_ >= 2) arguments.push_back("--local");
  arguments.push_back(reference);
  return Ctr(arguments, std::chrono::minutes(10));
}

std::vector<std::string> Containerd::RunArguments(const std::string& flag, const std::string& snapshotter,
                                                  const std::string& reference, const std::string& id,
                                                  std::vector<std::string> command) const {
  std::vector<std::string> arguments = {
      "run",     flag, "--snapshotter", snapshotter, "--runc-root", folder_ + "/runc", "--fifo-dir", folder_ + "/fifo",
      reference, id};
  arguments.insert(arguments.end(), command.begin(), command.end());
  return arguments;
}

CommandResult Containerd::Run(const std::string& snapshotter, const std::string& reference, const std::string& id,
                              std::vector<std::string> command, std::chrono::seconds timeout) const {
  return Ctr(RunArguments("--rm", snapshotter, reference, id, std::move(command)), timeout);
}

std::unique_ptr<Process> Containerd::StartRun(const std::string& snapshotter, const std::string& reference,
                                              const std::string& id, std::vector<std::string> command,
                                              const std::string& log) const {
  return std::make_unique<Process>(CtrLine(RunArguments("--rm", snapshotter, reference, id, std::move(command))), log,
                                   Options());
}

CommandResult Containerd::RunDetached(const std::string& snapshotter, const std::string& reference,
                                      const std::string& id, std::vector<std::string> command) const {
  return Ctr(RunArguments("--detach", snapshotter, reference, id, std::move(command)));
}

std::vector<std::string> Containerd::ExecArguments(const std::string& id, std::vector<std::string> command) const {
  std::vector<std::string> arguments = {
      "tasks", "exec", "--exec-id", "exec-" + std::to_string(++execs_), "--fifo-dir", folder_ + "/fifo", id};
  arguments.insert(arguments.end(), command.begin(), command.end());
  return arguments;
}

CommandResult Containerd::Exec(const std::string& id, std::vector<std::string> command,
                               std::chrono::seconds timeout) const {
  return Ctr(ExecArguments(id, std::move(command)), timeout);
}

std::unique_ptr<Process> Containerd::StartExec(const std::string& id, std::vector<std::string> command,
                                               const std::string& log) const {
  return std::make_unique<Process>(CtrLine(ExecArguments(id, std::move(command))), log, Options());
}

void Containerd::RemoveContainer(const std::string& id) const {
  Ctr({"tasks", "rm", "--force", id});
  const CommandResult removed = Ctr({"containers", "rm", id});
  if (!removed.ok()) throw std::runtime_error("cannot remove container " + id + ": " + removed.err);
}

CommandResult Containerd::RemoveImage(const std::string& reference) const {
  return Ctr({"images", "rm", "--sync", reference});
}

void Containerd::RemoveAllImages() const {
  for (const std::string& image : Names({"images", "ls", "-q"})) RemoveImage(image);
}

std::vector<std::string> Containerd::Names(std::vector<std::string> arguments) const {
  std::vector<std::string> names;
  std::istringstream lines(Ctr(std::move(arguments)).out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

}  // namespace soci::test
