// soci-snapshotter: the daemon behind containerd's proxy plugin, and the operator's verbs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "snapshotter/daemon/exit_code.h"
#include "snapshotter/daemon/stop_signals.h"
#include "snapshotter/daemon/verbs.h"
#include "snapshotter/daemon/version.h"

namespace {

constexpr char kExamples[] = R"(Examples:
  soci-snapshotter serve --config /etc/soci-snapshotter/config.toml
  soci-snapshotter serve --paths.state=/mnt/nvme/soci --log.level=debug
  soci-snapshotter pull registry.example.com/ai/train:v3
  soci-snapshotter pull --plain-http --namespace k8s.io localhost:5000/app:latest
  soci-snapshotter status
  soci-snapshotter record --out torch.record registry.example.com/ai/train:v3 -- python3 -c 'import torch'
  soci-snapshotter mount-layer oci:./image:latest --layer 1 /mnt

Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 authentication, 5 network, 6 bad data.)";

// "--section.key=value" and "--section.key value", as the flags that stand for configuration keys are given.
soci::Result<soci::ConfigOverrides> Overrides(const std::vector<std::string>& words) {
  soci::ConfigOverrides overrides;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.rfind("--", 0) != 0 || word.find('.') == std::string::npos) {
      return absl::InvalidArgumentError(fmt::format("unknown argument {}", word));
    }
    const size_t equals = word.find('=');
    if (equals != std::string::npos) {
      overrides.emplace_back(word.substr(2, equals - 2), word.substr(equals + 1));
    } else if (i + 1 < words.size()) {
      overrides.emplace_back(word.substr(2), words[++i]);
    } else {
      return absl::InvalidArgumentError(fmt::format("{} needs a value", word));
    }
  }
  return overrides;
}

void AddRecordOptions(CLI::App& app, soci::RecordOptions& record) {
  auto* reference = app.add_option("REF", record.reference, "Image reference; it is pulled if it is not there");
  app.add_option("COMMAND", record.command, "After --: what to run in a container of it; default: the image's own");
  app.add_option("--out", record.out, "File for the record, for `soci-index record push`");
  app.add_option("--ready-line", record.ready_line, "The program is ready when a line that it prints has this in it");
  app.add_option("--seconds-of-silence", record.silence_seconds,
                 "... or when it has read nothing new for so long; default: the daemon's record.quiet_seconds");
  app.add_option("--max-size", record.max_size,
                 "... or when it has read so much, 512MiB for example; default: the daemon's record.max_bytes");
  app.add_option("--grace", record.grace_seconds, "Seconds to end in that it gets then, before it is killed")
      ->capture_default_str();
  app.add_option("--run-flag", record.run_flags, "For `ctr run`, such as --run-flag=--gpus=0; may be given again")
      ->allow_extra_args(false);
  app.add_option("--ctr", record.ctr, "containerd's ctr, which runs the container")->capture_default_str();
  app.add_option("--containerd", record.containerd, "containerd's socket")->capture_default_str();
  app.add_option("--namespace", record.containerd_namespace, "containerd's namespace")->capture_default_str();
  app.add_option("--snapshotter", record.snapshotter, "Name of the proxy plugin in containerd's configuration")
      ->capture_default_str();
  app.add_option("--hosts-dir", record.hosts_directory, "Directory of HOST/hosts.toml files, as containerd's")
      ->capture_default_str();
  app.add_flag("--plain-http", record.plain_http, "Speak HTTP without TLS to the registry");
  app.add_option("--socket", record.socket, "The daemon's admin socket")->capture_default_str();
  auto* stop = app.add_flag("--stop", record.stop, "End every recording under way: the programs are ready");
  stop->excludes(reference);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Mounts the layers of container images before their bytes are there.", "soci-snapshotter");
  app.set_version_flag("--version", std::string(soci::kVersion));
  app.footer(kExamples);
  app.require_subcommand(1);
  std::function<int(soci::StopSignals&)> verb;

  soci::ServeOptions serve;
  CLI::App* serve_app = app.add_subcommand("serve", "Run the daemon that containerd's proxy plugin speaks to");
  serve_app->add_option("--config", serve.config_file, "Configuration file (TOML); every key is also a --section.key");
  serve_app->allow_extras();
  serve_app->callback([&] { verb = [&](soci::StopSignals& signals) { return soci::Serve(serve, signals); }; });

  soci::PullVerbOptions pull;
  CLI::App* pull_app = app.add_subcommand("pull", "Pull an image into containerd, lazily where it is indexed");
  pull_app->add_option("REF", pull.reference, "Image reference, HOST/REPOSITORY:TAG or @DIGEST")->required();
  pull_app->add_option("--containerd", pull.containerd, "containerd's socket")->capture_default_str();
  pull_app->add_option("--namespace", pull.containerd_namespace, "containerd's namespace")->capture_default_str();
  pull_app->add_option("--snapshotter", pull.snapshotter, "Name of the proxy plugin in containerd's configuration")
      ->capture_default_str();
  pull_app->add_option("--hosts-dir", pull.hosts_directory, "Directory of HOST/hosts.toml files, as containerd's")
      ->capture_default_str();
  pull_app->add_flag("--plain-http", pull.plain_http, "Speak HTTP without TLS to the registry");
  pull_app->add_option("--patience", pull.patience_seconds, "Seconds for which a silent registry is asked again")
      ->capture_default_str();
  pull_app->callback([&] { verb = [&](soci::StopSignals& signals) { return soci::PullVerb(pull, signals); }; });

  soci::StatusOptions status;
  CLI::App* status_app = app.add_subcommand("status", "What is lazy, what is being filled, what was deferred and why");
  status_app->add_option("--socket", status.socket, "The daemon's admin socket")->capture_default_str();
  status_app->add_flag("--json", status.json, "One JSON document");
  status_app->callback([&] { verb = [&](soci::StopSignals&) { return soci::StatusVerb(status); }; });

  soci::RecordOptions record;
  CLI::App* record_app = app.add_subcommand("record", "Make a record of what a command of an image reads first");
  AddRecordOptions(*record_app, record);
  record_app->callback([&] {
    if (!record.stop && record.reference.empty()) throw CLI::RequiredError("REF or --stop");
    verb = [&](soci::StopSignals& signals) { return soci::RecordVerb(record, signals); };
  });

  soci::MountLayerOptions mount;
  CLI::App* mount_app = app.add_subcommand("mount-layer", "Mount one layer of an OCI layout directory until Ctrl-C");
  mount_app->add_option("IMAGE", mount.image, "oci:DIR[:TAG]; it must be indexed")->required();
  mount_app->add_option("MOUNTPOINT", mount.mount_point, "Directory to mount it at")->required();
  mount_app->add_option("--layer", mount.layer, "The layer's digest, or its number from 1")->required();
  mount_app->add_option("--state", mount.state, "Where its bytes are kept; default: a temporary directory");
  mount_app->add_flag("!--no-fill", mount.fill, "Fetch only what is read");
  mount_app->callback([&] { verb = [&](soci::StopSignals& signals) { return soci::MountLayer(mount, signals); }; });

  app.add_subcommand("version", "Print the version")->callback([&] {
    verb = [](soci::StopSignals&) {
      fmt::print("soci-snapshotter {}\n", soci::kVersion);
      return soci::kExitDone;
    };
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? soci::kExitDone : soci::kExitUsage;
  }
  if (serve_app->parsed()) {
    auto overrides = Overrides(serve_app->remaining());
    if (!overrides.ok()) {
      soci::Fail(overrides.status());
      return soci::kExitUsage;
    }
    serve.overrides = *std::move(overrides);
  }
  soci::StopSignals signals;
  return verb(signals);
}
