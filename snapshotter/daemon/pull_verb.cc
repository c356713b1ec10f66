// `soci-snapshotter pull`: prints what happens, and the manifest's digest at the end.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "indexer/base/mutex.h"
#include "indexer/registry/registry_client.h"
#include "snapshotter/daemon/exit_code.h"
#include "snapshotter/daemon/image_pull.h"
#include "snapshotter/daemon/registry_parts.h"
#include "snapshotter/daemon/stop_signals.h"
#include "snapshotter/daemon/verbs.h"

namespace soci {
namespace {

double MebiBytes(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// One line per layer; on a terminal the line of a download is written again and again.
class PullPrinter {
 public:
  PullProgress Progress() {
    PullProgress progress;
    progress.resolved = [this](const oci::Manifest& manifest) { Resolved(manifest); };
    progress.downloading = [this](size_t layer, uint64_t bytes) {
      MutexLock lock(mutex_);
      Downloading(layer, bytes);
    };
    progress.unpacking = [this](size_t layer) {
      MutexLock lock(mutex_);
      Line(layer, "unpacking", false);
    };
    progress.layer_done = [this](size_t layer, LayerPulled how) {
      MutexLock lock(mutex_);
      Done(layer, how);
    };
    return progress;
  }

 private:
  void Resolved(const oci::Manifest& manifest) {
    manifest_ = manifest;
    int64_t size = 0;
    for (const oci::Descriptor& layer : manifest.layers) size += layer.size;
    fmt::print(stderr, "{} layers, {:.1f} MiB\n", manifest.layers.size(), MebiBytes(static_cast<uint64_t>(size)));
  }

  void Downloading(size_t layer, uint64_t bytes) {
    const auto size = static_cast<uint64_t>(std::max<int64_t>(manifest_.layers[layer].size, 1));
    const int percent = static_cast<int>(bytes * 100 / size);
    if (percent == percent_) return;
    percent_ = percent;
    Line(layer, fmt::format("downloading {:3} %", percent), false);
  }

  void Done(size_t layer, LayerPulled how) {
    static constexpr const char* kWords[] = {"already there", "by the snapshotter", "by containerd"};
    Line(layer, kWords[static_cast<size_t>(how)], true);
    percent_ = -1;
  }

  void Line(size_t layer, std::string_view what, bool last) {
    if (!terminal_ && !last) return;
    const oci::Descriptor& descriptor = manifest_.layers[layer];
    fmt::print(stderr, "{}[{}/{}] {} {:9.1f} MiB  {}{}", terminal_ ? "\r\x1b[K" : "", layer + 1,
               manifest_.layers.size(), descriptor.digest.ToString().substr(0, 19),
               MebiBytes(static_cast<uint64_t>(descriptor.size)), what, last ? "\n" : "");
  }

  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  oci::Manifest manifest_;
  Mutex mutex_;  // a leaf: one writes at a time
  int percent_ = -1;
};

Result<PulledImage> Pull(const PullVerbOptions& options, const oci::Reference& image, const StopSignals& signals,
                         PullPrinter& printer) {
  RegistryConfig config;
  config.hosts_directory = options.hosts_directory;
  SOCI_ASSIGN_OR_RETURN(auto registry, RegistryParts::Make(config, {options.plain_http}));
  ContainerdChannel::Options containerd;
  containerd.address = options.containerd;
  containerd.containerd_namespace = options.containerd_namespace;
  containerd.stop = signals.token();
  SOCI_ASSIGN_OR_RETURN(auto channel, ContainerdChannel::Connect(std::move(containerd)));
  PullOptions pull;
  pull.snapshotter = options.snapshotter;
  pull.stop = signals.token();
  pull.budget = std::chrono::seconds(options.patience_seconds);
  return PullImage(registry->client(), *channel, image, pull, printer.Progress());
}

}  // namespace

int PullVerb(const PullVerbOptions& options, const StopSignals& signals) {
  auto image = oci::Reference::Parse(options.reference);
  if (!image.ok()) {
    Fail(Annotate(image.status(), "pull"));
    return kExitUsage;
  }
  PullPrinter printer;
  auto pulled = Pull(options, *image, signals, printer);
  if (!pulled.ok()) return Fail(Annotate(pulled.status(), "pull " + options.reference));
  fmt::print("{}\n", pulled->manifest.ToString());
  return kExitDone;
}

}  // namespace soci
