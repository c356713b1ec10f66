#include "bench/run/host.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "indexer/base/unique_fd.h"
#include "tests/support/free_port.h"

namespace soci::bench {
namespace {

template <typename T>
T OrThrow(soci::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(std::string(Message(result.status())));
  return *std::move(result);
}

UniqueFd ConnectUnix(const std::string& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("the socket's name is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fd.Reset();
  return fd;
}

// Who listens there; nothing if nobody does.
std::optional<pid_t> ListenerOf(const std::string& socket) {
  const UniqueFd fd = ConnectUnix(socket);
  ucred peer{};
  socklen_t length = sizeof peer;
  if (!fd || ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  return peer.pid;
}

std::string ReadText(const std::string& path) {
  std::ifstream stream(path);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

void WriteText(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream stream(path);
  stream << text;
  if (!stream.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

Host::Host(const test::Sandbox& sandbox, const Contestant& contestant, const ImageAddress& image, HostOptions options)
    : contestant_(contestant),
      options_(std::move(options)),
      folder_(sandbox / "daemon"),
      metrics_port_(test::FreePort()) {
  const bool own = options_.containerd.empty();
  values_ = {{"containerd", own ? sandbox / "containerd/c.sock" : options_.containerd},
             {"namespace", sandbox.name()},
             {"ctr", "ctr"},
             {"snapshotter", contestant.snapshotter},
             {"image", image.reference},
             {"registry", image.host()},
             {"scheme", image.plain_http ? "http" : "https"},
             {"plain", image.plain_http ? "--plain-http" : ""},
             {"local", ""},
             {"folder", folder_},
             {"state", sandbox / "state"},
             {"run", sandbox / "run"},
             {"port", std::to_string(metrics_port_)},
             {"programs", options_.programs}};
  std::filesystem::create_directories(folder_);
  std::filesystem::create_directories(values_["state"]);
  std::filesystem::create_directories(values_["run"]);
  if (!options_.records.empty()) {
    std::filesystem::copy(options_.records, values_["state"] + "/records", std::filesystem::copy_options::recursive);
  }
  values_["socket"] = OrThrow(Fill(contestant.socket.empty() ? "{folder}/none.sock" : contestant.socket, values_));
  admin_socket_ = own ? values_["run"] + "/admin.sock" : options_.admin_socket;
  if (own) {
    // First the daemon: a connection that was refused containerd renews only after some seconds.
    if (!contestant.daemon.empty()) StartDaemon();
    const bool proxied = !contestant.socket.empty();
    containerd_ = std::make_unique<test::Containerd>(sandbox, values_["socket"],
                                                     proxied ? contestant.snapshotter : std::string("none"));
    values_["ctr"] = containerd_->Program("ctr");
    if (containerd_->major_version() >= 2) values_["local"] = "--local";
  } else if (!ListenerOf(options_.containerd)) {
    throw std::runtime_error("no containerd answers at " + options_.containerd);
  }
}

Host::~Host() {
  try {
    CleanNamespace();
  } catch (const std::exception&) {
    // The sandbox sweeps up what is left of a containerd of its own.
  }
  daemon_.reset();
  containerd_.reset();
}

void Host::StartDaemon() {
  for (const auto& [path, text] : contestant_.files) {
    WriteText(OrThrow(Fill(path, values_)), OrThrow(Fill(text, values_)));
  }
  const std::string log = folder_ + "/log";
  daemon_ = std::make_unique<test::Process>(Line(contestant_.daemon), log);
  const bool up = test::WaitUntil([&] { return !daemon_->Running() || ListenerOf(values_.at("socket")).has_value(); });
  if (up && daemon_->Running()) return;
  throw std::runtime_error("the snapshotter's daemon does not start: " + LastLine(ReadText(log)));
}

void Host::SaveRecords(const std::string& folder) const {
  const auto stopped =
      test::RunCommand({options_.programs + "/soci-snapshotter", "record", "--stop", "--socket", admin_socket_});
  if (!stopped.ok()) throw std::runtime_error("nothing is recorded: " + LastLine(stopped.err));
  std::filesystem::copy(values_.at("state") + "/records", folder, std::filesystem::copy_options::recursive);
}

void Host::KillDaemon() {
  if (!daemon_) return;
  daemon_->Kill();
  StartDaemon();
}

void Host::UpgradeDaemon() {
  if (!daemon_) return;
  daemon_->Stop();
  StartDaemon();
}

std::vector<std::string> Host::Line(const std::string& line) const { return OrThrow(CommandLine(line, values_)); }

std::vector<std::string> Host::CtrLine(std::vector<std::string> arguments) const {
  std::vector<std::string> line = {values_.at("ctr"), "--address", values_.at("containerd"), "--namespace",
                                   values_.at("namespace")};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

std::map<std::string, std::string> Host::environment() const {
  std::map<std::string, std::string> environment;
  if (containerd_) environment = containerd_->Options().environment;
  environment["TMPDIR"] = folder_;  // what a program leaves there goes with the sandbox
  return environment;
}

std::map<std::string, pid_t> Host::processes() const {
  std::map<std::string, pid_t> processes;
  if (const auto pid = ListenerOf(values_.at("containerd"))) processes["containerd"] = *pid;
  if (daemon_) {
    processes["snapshotter"] = daemon_->pid();
  } else if (contestant_.local == Contestant::Local::kByStatus) {
    if (const auto pid = ListenerOf(admin_socket_)) processes["snapshotter"] = *pid;
  }
  return processes;
}

std::vector<std::string> Host::Names(std::vector<std::string> arguments) const {
  std::vector<std::string> names;
  std::istringstream lines(test::RunCommand(CtrLine(std::move(arguments))).out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

void Host::CleanNamespace() const {
  for (const std::string& id : Names({"tasks", "ls", "-q"})) test::RunCommand(CtrLine({"tasks", "rm", "--force", id}));
  for (const std::string& id : Names({"containers", "ls", "-q"})) test::RunCommand(CtrLine({"containers", "rm", id}));
  if (containerd_) return;  // the rest goes with its directory
  for (const std::string& image : Names({"images", "ls", "-q"})) {
    test::RunCommand(CtrLine({"images", "rm", "--sync", image}));
  }
  test::RunCommand(CtrLine({"namespaces", "rm", values_.at("namespace")}));
}

}  // namespace soci::bench
