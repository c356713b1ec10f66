#include "bench/run/contestant.h"

#include <fmt/format.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace soci::bench {
namespace {

constexpr char kCtrPull[] =
    "{ctr} --address {containerd} --namespace {namespace} images pull {plain} {local} --snapshotter {snapshotter} "
    "{image}";

Contestant Containerd(std::string mode) {
  Contestant contestant;
  contestant.mode = std::move(mode);
  contestant.snapshotter = "overlayfs";
  contestant.pull = kCtrPull;
  return contestant;
}

Contestant Ours(std::string mode, const std::string& flags) {
  Contestant contestant;
  contestant.mode = std::move(mode);
  contestant.snapshotter = "soci";
  contestant.daemon =
      "{programs}/soci-snapshotter serve --paths.state={state} --paths.run={run} "
      "--service.metrics=127.0.0.1:{port} --containerd.address={containerd} "
      "--registry.hosts_directory={folder}/certs.d " +
      flags;
  contestant.socket = "{run}/soci-snapshotter.sock";
  contestant.files = {{"{folder}/certs.d/{registry}/hosts.toml", "server = \"{scheme}://{registry}\"\n"}};
  contestant.pull =
      "{programs}/soci-snapshotter pull {plain} --containerd {containerd} --namespace {namespace} {image}";
  contestant.local = Contestant::Local::kByStatus;
  return contestant;
}

// AWS's snapshotter takes the same index from the registry.
Contestant AwsSoci() {
  Contestant contestant;
  contestant.mode = "soci";
  contestant.snapshotter = "soci";
  contestant.daemon = "soci-snapshotter-grpc --address {socket} --root {state} --config {folder}/config.toml";
  contestant.socket = "{run}/soci-snapshotter-grpc.sock";
  contestant.version = "soci-snapshotter-grpc --version";
  contestant.files = {{"{folder}/config.toml",
                       "metrics_network = \"tcp\"\nmetrics_address = \"127.0.0.1:{port}\"\n"
                       "[pull_modes.soci_v1]\nenable = true\n"
                       "[resolver.host.\"{registry}\"]\n[[resolver.host.\"{registry}\".mirrors]]\n"
                       "host = \"http://{registry}\"\ninsecure = true\n"}};
  // Its own program pulls no longer; ours gives the labels that CRI gives, to whatever snapshotter.
  contestant.pull =
      "{programs}/soci-snapshotter pull {plain} --snapshotter {snapshotter} --containerd {containerd} "
      "--namespace {namespace} {image}";
  contestant.local = Contestant::Local::kNever;
  return contestant;
}

// Needs the image converted; the one it makes stands beside the other in the registry.
Contestant Stargz() {
  Contestant contestant;
  contestant.mode = "stargz";
  contestant.snapshotter = "stargz";
  contestant.daemon =
      "containerd-stargz-grpc --address {socket} --root {state} --config {folder}/config.toml --log-level=warn";
  contestant.socket = "{run}/containerd-stargz-grpc.sock";
  contestant.version = "containerd-stargz-grpc --version";
  contestant.files = {
      {"{folder}/config.toml", "[[resolver.host.\"{registry}\".mirrors]]\nhost = \"{registry}\"\ninsecure = true\n"}};
  // Compressed as most layers are: its own level, 9, takes minutes a gigabyte.
  contestant.setup = {"{ctr} --address {containerd} --namespace {namespace} images pull {plain} {local} {image}",
                      "ctr-remote --address {containerd} --namespace {namespace} images convert --estargz "
                      "--estargz-compression-level 6 --oci {image} {image}-esgz",
                      "{ctr} --address {containerd} --namespace {namespace} images push {plain} {local} {image}-esgz"};
  contestant.pull = "ctr-remote --address {containerd} --namespace {namespace} images rpull {plain} {image}-esgz";
  contestant.image_suffix = "-esgz";
  contestant.local = Contestant::Local::kNever;
  return contestant;
}

class Table {
 public:
  Table(const toml::table& table, const std::string& path) : table_(table), path_(path) {}

  Status Read(std::string_view key, std::string& out) {
    return With(key, [&](const toml::node& node) -> Status {
      const auto* text = node.as_string();
      if (text == nullptr) return Wrong(key, "a string");
      out = text->get();
      return OkStatus();
    });
  }
  Status Read(std::string_view key, std::vector<std::string>& out) {
    return With(key, [&](const toml::node& node) -> Status {
      const auto* array = node.as_array();
      if (array == nullptr) return Wrong(key, "an array of strings");
      for (const toml::node& one : *array) {
        if (!one.is_string()) return Wrong(key, "an array of strings");
        out.push_back(one.as_string()->get());
      }
      return OkStatus();
    });
  }
  Status Read(std::string_view key, std::map<std::string, std::string>& out) {
    return With(key, [&](const toml::node& node) -> Status {
      const auto* table = node.as_table();
      if (table == nullptr) return Wrong(key, "a table of strings");
      for (const auto& [name, one] : *table) {
        if (!one.is_string()) return Wrong(key, "a table of strings");
        out[std::string(name)] = one.as_string()->get();
      }
      return OkStatus();
    });
  }
  // After all reads: is there a key that nobody read?
  Status Unknown() const {
    for (const auto& [name, unused] : table_) {
      if (known_.count(std::string(name)) == 0) {
        return absl::InvalidArgumentError(fmt::format("{}: unknown key {}", path_, std::string(name)));
      }
    }
    return OkStatus();
  }
  Status Wrong(std::string_view key, std::string_view wanted) const {
    return absl::InvalidArgumentError(fmt::format("{}: {} has to be {}", path_, key, wanted));
  }

 private:
  template <typename Reader>
  Status With(std::string_view key, Reader read) {
    known_.emplace(key, true);
    const toml::node* node = table_.get(key);
    return node == nullptr ? OkStatus() : read(*node);
  }

  const toml::table& table_;
  const std::string& path_;
  std::map<std::string, bool> known_;
};

soci::Result<Contestant> FromTable(Table table) {
  Contestant contestant;
  std::string local = "pull-end";
  SOCI_RETURN_IF_ERROR(table.Read("snapshotter", contestant.snapshotter));
  SOCI_RETURN_IF_ERROR(table.Read("mode", contestant.mode));
  SOCI_RETURN_IF_ERROR(table.Read("daemon", contestant.daemon));
  SOCI_RETURN_IF_ERROR(table.Read("socket", contestant.socket));
  SOCI_RETURN_IF_ERROR(table.Read("pull", contestant.pull));
  SOCI_RETURN_IF_ERROR(table.Read("version", contestant.version));
  SOCI_RETURN_IF_ERROR(table.Read("setup", contestant.setup));
  SOCI_RETURN_IF_ERROR(table.Read("image_suffix", contestant.image_suffix));
  SOCI_RETURN_IF_ERROR(table.Read("local", local));
  SOCI_RETURN_IF_ERROR(table.Read("files", contestant.files));
  SOCI_RETURN_IF_ERROR(table.Unknown());
  if (contestant.snapshotter.empty()) return table.Wrong("snapshotter", "there");
  if (contestant.mode.empty()) contestant.mode = contestant.snapshotter;
  if (contestant.pull.empty()) contestant.pull = kCtrPull;
  if (!contestant.daemon.empty() && contestant.socket.empty())
    return table.Wrong("socket", "there, as there is a daemon");
  if (local == "never") {
    contestant.local = Contestant::Local::kNever;
  } else if (local != "pull-end") {
    contestant.local = Contestant::Local::kByCommand;
    contestant.local_command = local;
  }
  return contestant;
}

}  // namespace

soci::Result<Contestant> KnownContestant(const std::string& name) {
  if (name == "containerd") return Containerd(name);
  if (name == "lazy") return Ours(name, "");
  if (name == "lazy+replay") {
    Contestant contestant = Ours(name, "");
    contestant.recorded = true;
    return contestant;
  }
  if (name == "full") return Ours(name, "--pull.unpack=true --index.referrers=false");
  if (name == "soci") return AwsSoci();
  if (name == "stargz") return Stargz();
  if (name == "local") {
    Contestant local = Containerd(name);
    local.pulled_before = true;
    return local;
  }
  return absl::InvalidArgumentError(
      fmt::format("no mode and no snapshotter is known as \"{}\"; there are containerd, lazy, lazy+replay, full, "
                  "local, soci, stargz, or a "
                  "recipe in a .toml file",
                  name));
}

std::string FindInPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string found = folder + "/" + program;
    if (::access(found.c_str(), X_OK) == 0) return found;
  }
  return "";
}

std::vector<std::string> PeersInPath() {
  std::vector<std::string> peers;
  const auto all_in_path = [](const std::vector<std::string>& programs) {
    return std::none_of(programs.begin(), programs.end(), [](const auto& name) { return FindInPath(name).empty(); });
  };
  if (all_in_path({"soci-snapshotter-grpc"})) peers.push_back("soci");
  if (all_in_path({"containerd-stargz-grpc", "ctr-remote"})) peers.push_back("stargz");
  return peers;
}

soci::Result<Contestant> ReadContestant(const std::string& path) {
  try {
    const toml::table table = toml::parse_file(path);
    return FromTable(Table(table, path));
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(
        fmt::format("{}:{}: {}", path, error.source().begin.line, std::string(error.description())));
  }
}

}  // namespace soci::bench
