#include "tests/e2e/support/daemon.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace soci::test {

Daemon::Daemon(const Sandbox& sandbox, std::vector<std::string> flags)
    : folder_(sandbox / "daemon"), state_(sandbox / "state"), run_(sandbox / "run"), flags_(std::move(flags)) {
  std::filesystem::create_directories(folder_);
  Start();
}

std::string Daemon::Program(const std::string& name) {
  const char* folder = std::getenv("SOCI_TEST_PROGRAMS");
  return (folder ? std::string(folder) : std::string(SOCI_PROGRAMS)) + "/" + name;
}

void Daemon::Start() {
  std::vector<std::string> arguments = {Program("soci-snapshotter"),
                                        "serve",
                                        "--paths.state=" + state_,
                                        "--paths.run=" + run_,
                                        "--service.metrics=",
                                        "--log.level=debug",
                                        "--registry.hosts_directory=" + folder_ + "/certs.d",
                                        "--registry.docker_config=" + folder_ + "/docker.json"};
  arguments.insert(arguments.end(), flags_.begin(), flags_.end());
  if (descriptor_limit_ > 0) {
    const std::string limit = std::to_string(descriptor_limit_);
    arguments.insert(arguments.begin(), {"/usr/bin/prlimit", "--nofile=" + limit + ":" + limit});
  }
  process_ = std::make_unique<Process>(arguments, folder_ + "/log");
  const bool up = WaitUntil([this] {
    return !process_->Running() ||
           RunCommand({Program("soci-snapshotter"), "status", "--json", "--socket", run_ + "/admin.sock"}).ok();
  });
  if (!up || !process_->Running()) throw std::runtime_error("soci-snapshotter does not start: " + Log());
}

std::string Daemon::Log() const {
  std::ifstream stream(folder_ + "/log");
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

void Daemon::UsePlainHttp(const std::string& host) const {
  const std::string folder = folder_ + "/certs.d/" + host;
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/hosts.toml") << "server = \"http://" << host << "\"\n";
}

CommandResult Daemon::Pull(const Containerd& containerd, const std::string& reference) const {
  return RunCommand({Program("soci-snapshotter"), "pull", "--plain-http", "--containerd", containerd.address(),
                     "--namespace", containerd.name_space(), reference},
                    std::chrono::minutes(10));
}

std::vector<Daemon::Layer> Daemon::Layers() const {
  const CommandResult result =
      RunCommand({Program("soci-snapshotter"), "status", "--json", "--socket", run_ + "/admin.sock"});
  if (!result.ok()) throw std::runtime_error("status: " + result.err);
  std::vector<Layer> layers;
  const nlohmann::json document = nlohmann::json::parse(result.out);
  for (const nlohmann::json& image : document.at("images")) {
    for (const nlohmann::json& layer : image.at("layers")) {
      layers.push_back({layer.at("digest"), layer.at("state"), layer.value("reason", std::string()),
                        layer.value("percent", 0), layer.value("directory", std::string())});
    }
  }
  return layers;
}

bool Daemon::WaitUntilSealed(std::chrono::seconds timeout) const {
  return WaitUntil(
      [this] {
        const std::vector<Layer> layers = Layers();
        return std::all_of(layers.begin(), layers.end(),
                           [](const Layer& layer) { return layer.state == "sealed" || layer.state == "deferred"; });
      },
      timeout);
}

CommandResult CreateIndex(const std::string& reference, std::vector<std::string> flags) {
  std::vector<std::string> arguments = {Daemon::Program("soci-index"), "create", "--plain-http"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.push_back(reference);
  return RunCommand(arguments, std::chrono::minutes(10));
}

}  // namespace soci::test
