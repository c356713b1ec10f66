#include "snapshotter/daemon/layer_downloads.h"

#include <chrono>
#include <utility>

#include "indexer/base/byte_stream.h"
#include "indexer/registry/registry_client.h"

namespace soci {
namespace {

constexpr size_t kDownloads = 3;                          // as containerd's own pull
constexpr auto kDownloadBudget = std::chrono::hours(24);  // a layer may be large and the link slow

}  // namespace

LayerDownloads::LayerDownloads(RegistryClient& registry, ContainerdContent& content, oci::Reference image,
                               const oci::Manifest& manifest, std::stop_token stop, Progress progress)
    : registry_(registry),
      content_(content),
      image_(std::move(image)),
      manifest_(manifest),
      progress_(std::move(progress)),
      outer_stop_(std::move(stop), [this] { stop_.request_stop(); }),
      pool_("download", kDownloads) {}

LayerDownloads::~LayerDownloads() { stop_.request_stop(); }

void LayerDownloads::Start(size_t layer) {
  if (started_.count(layer) > 0) return;
  auto task = std::make_shared<std::packaged_task<Status()>>([this, layer] { return Download(layer); });
  started_[layer] = task->get_future().share();
  pool_.Post([task] { (*task)(); });
}

Status LayerDownloads::Finish(size_t layer) {
  Start(layer);
  return started_[layer].get();
}

Status LayerDownloads::Download(size_t layer) {
  if (stop_.stop_requested()) return absl::CancelledError("stopped");
  const oci::Descriptor& descriptor = manifest_.layers[layer];
  SOCI_ASSIGN_OR_RETURN(bool there, content_.Has(descriptor.digest));
  if (there) return OkStatus();
  FetchContext context;
  context.budget = kDownloadBudget;
  context.stop = stop_.get_token();
  SOCI_ASSIGN_OR_RETURN(auto source, registry_.OpenBlob(image_, descriptor));
  auto stream = MakeSourceStream(*source, context);
  return content_.Copy(descriptor, *stream, {}, [&](uint64_t bytes) {
    if (progress_) progress_(layer, bytes);
  });
}

}  // namespace soci
