#include "snapshotter/daemon/image_pull.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "indexer/content/containerd_content.h"
#include "indexer/content/containerd_images.h"
#include "indexer/content/containerd_snapshots.h"
#include "indexer/index/find_index.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/platform.h"
#include "indexer/registry/registry_client.h"
#include "snapshotter/daemon/layer_downloads.h"

namespace soci {
namespace {

using Labels = std::map<std::string, std::string>;

constexpr size_t kLongestLabel = 4096;                          // key and value, containerd's limit
constexpr auto kSnapshotterAbsence = std::chrono::seconds(10);  // containerd's longest pause is 3 seconds
constexpr auto kSnapshotterRetry = std::chrono::milliseconds(200);
constexpr std::string_view kContentReference = "containerd.io/gc.ref.content.";
constexpr std::string_view kSnapshotReference = "containerd.io/gc.ref.snapshot.";

struct ResolvedImage {
  std::optional<FetchedDocument> index;  // if the reference names one
  size_t index_entry = 0;
  FetchedDocument manifest_document;
  oci::Manifest manifest;
  std::string config_bytes;
  oci::ImageConfig config;
};

oci::Descriptor DescriptorOf(const FetchedDocument& document) {
  oci::Descriptor descriptor;
  descriptor.media_type = document.media_type;
  descriptor.digest = document.digest;
  descriptor.size = static_cast<int64_t>(document.body.size());
  return descriptor;
}

bool IsImageIndex(std::string_view media_type) {
  return media_type == oci::kMediaTypeImageIndex || media_type == oci::kMediaTypeDockerManifestList;
}

// One pull: the parts, and the steps in order.
class Pull {
 public:
  Pull(RegistryClient& registry, const ContainerdChannel& containerd, const oci::Reference& image,
       const PullOptions& options, const PullProgress& progress)
      : registry_(registry),
        content_(containerd),
        images_(containerd),
        snapshots_(containerd, options.snapshotter),
        image_(image),
        options_(options),
        progress_(progress) {
    context_.stop = options.stop;
    context_.budget = options.budget;
  }

  Status Resolve();
  Status StoreDocuments();
  Status FillLayers();
  Status CreateRecord();

  PulledImage TakeResult() { return std::move(result_); }
  const oci::Manifest& manifest() const { return resolved_.manifest; }

 private:
  void StartDownloads();
  Result<LayerPulled> FillLayer(size_t layer, const oci::ChainId& parent, const oci::ChainId& name);
  struct Prepared {
    std::string key;
    std::optional<std::vector<ContainerdMount>> mounts;  // none if there is nothing to fill
  };
  Result<Prepared> Prepare(size_t layer, const oci::ChainId& parent, const oci::ChainId& name);
  Status Unpack(size_t layer, const std::vector<ContainerdMount>& mounts);
  Labels SnapshotLabels(size_t layer, const oci::ChainId& name) const;
  oci::ChainId TopChain() const;

  RegistryClient& registry_;
  ContainerdContent content_;
  ContainerdImages images_;
  ContainerdSnapshots snapshots_;
  const oci::Reference image_;
  const PullOptions& options_;
  const PullProgress& progress_;
  FetchContext context_;
  ResolvedImage resolved_;
  PulledImage result_;
  std::unique_ptr<LayerDownloads> downloads_;  // last: uses the rest
};

Status Pull::Resolve() {
  SOCI_ASSIGN_OR_RETURN(FetchedDocument document, registry_.FetchManifest(image_, image_.ManifestName(), context_));
  if (IsImageIndex(document.media_type)) {
    SOCI_ASSIGN_OR_RETURN(oci::ImageIndex index, oci::ImageIndex::Parse(document.body));
    const oci::Platform host = oci::HostPlatform();
    const oci::Descriptor* entry = oci::FindPlatform(index, host);
    if (entry == nullptr) return absl::NotFoundError(fmt::format("it has no image for {}", host.ToString()));
    resolved_.index_entry = static_cast<size_t>(entry - index.manifests.data());
    const std::string name = entry->digest.ToString();
    resolved_.index = std::move(document);
    SOCI_ASSIGN_OR_RETURN(document, registry_.FetchManifest(image_, name, context_));
  }
  resolved_.manifest_document = std::move(document);
  SOCI_ASSIGN_OR_RETURN(resolved_.manifest, oci::Manifest::Parse(resolved_.manifest_document.body));
  SOCI_ASSIGN_OR_RETURN(resolved_.config_bytes, registry_.FetchBlob(image_, resolved_.manifest.config, context_));
  SOCI_ASSIGN_OR_RETURN(resolved_.config, oci::ImageConfig::Parse(resolved_.config_bytes));
  if (resolved_.config.diff_ids.size() != resolved_.manifest.layers.size()) {
    return absl::InvalidArgumentError(fmt::format("not a runnable image: {} layers, {} DiffIDs",
                                                  resolved_.manifest.layers.size(), resolved_.config.diff_ids.size()));
  }
  result_.manifest = resolved_.manifest_document.digest;
  result_.target = DescriptorOf(resolved_.index ? *resolved_.index : resolved_.manifest_document);
  return OkStatus();
}

oci::ChainId Pull::TopChain() const {
  oci::ChainId chain;
  for (const oci::DiffId& diff_id : resolved_.config.diff_ids) chain = oci::Stack(chain, diff_id);
  return chain;
}

Status Pull::StoreDocuments() {
  const oci::Manifest& manifest = resolved_.manifest;
  Labels config_labels;
  if (!manifest.layers.empty()) {
    config_labels[std::string(kSnapshotReference) + options_.snapshotter] = TopChain().ToString();
  }
  SOCI_RETURN_IF_ERROR(content_.Put(manifest.config, resolved_.config_bytes, config_labels));

  Labels manifest_labels = {{std::string(kContentReference) + "config", manifest.config.digest.ToString()}};
  for (size_t i = 0; i < manifest.layers.size(); ++i) {
    manifest_labels[fmt::format("{}l.{}", kContentReference, i)] = manifest.layers[i].digest.ToString();
  }
  const FetchedDocument& document = resolved_.manifest_document;
  SOCI_RETURN_IF_ERROR(content_.Put(DescriptorOf(document), document.body, manifest_labels));
  if (!resolved_.index) return OkStatus();
  return content_.Put(DescriptorOf(*resolved_.index), resolved_.index->body,
                      {{fmt::format("{}m.{}", kContentReference, resolved_.index_entry), document.digest.ToString()}});
}

Labels Pull::SnapshotLabels(size_t layer, const oci::ChainId& name) const {
  return {{std::string(oci::kLabelSnapshotRef), name.ToString()},
          {std::string(oci::kLabelImageRef), image_.ToString()},
          {std::string(oci::kLabelManifestDigest), result_.manifest.ToString()},
          {std::string(oci::kLabelLayerDigest), resolved_.manifest.layers[layer].digest.ToString()},
          {std::string(oci::kLabelImageLayers), NeighboursLabel(resolved_.manifest, layer)}};
}

// Once the snapshotter has left one layer to us it will leave the others without a zTOC too, so they need not wait
// until it says so. Not before: it may unpack such layers itself. A guess: being wrong costs time, nothing else.
void Pull::StartDownloads() {
  downloads_ = std::make_unique<LayerDownloads>(registry_, content_, image_, resolved_.manifest, options_.stop,
                                                progress_.downloading);
  auto index = FindSociIndex(registry_, image_, result_.manifest, {}, context_);
  if (!index.ok()) return;
  oci::ChainId chain;
  for (size_t i = 0; i < resolved_.manifest.layers.size(); ++i) {
    chain = oci::Stack(chain, resolved_.config.diff_ids[i]);
    const oci::LayerDigest layer(resolved_.manifest.layers[i].digest);
    if (*index && (*index)->ZtocFor(layer) != nullptr) continue;
    auto exists = snapshots_.Exists(chain.ToString());
    if (exists.ok() && !*exists) downloads_->Start(i);
  }
}

Status Pull::FillLayers() {
  oci::ChainId parent;
  for (size_t i = 0; i < resolved_.manifest.layers.size(); ++i) {
    if (options_.stop.stop_requested()) return absl::CancelledError("stopped");
    const oci::ChainId name = oci::Stack(parent, resolved_.config.diff_ids[i]);
    auto done = FillLayer(i, parent, name);
    if (!done.ok())
      return Annotate(done.status(), fmt::format("layer {}", resolved_.manifest.layers[i].digest.ToString()));
    result_.layers.push_back(*done);
    if (progress_.layer_done) progress_.layer_done(i, *done);
    parent = name;
  }
  return OkStatus();
}

Result<LayerPulled> Pull::FillLayer(size_t layer, const oci::ChainId& parent, const oci::ChainId& name) {
  SOCI_ASSIGN_OR_RETURN(bool exists, snapshots_.Exists(name.ToString()));
  if (exists) return LayerPulled::kExisted;
  SOCI_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(layer, parent, name));
  if (!prepared.mounts) return LayerPulled::kLazy;

  Status unpacked = Unpack(layer, *prepared.mounts);
  if (unpacked.ok()) unpacked = snapshots_.Commit(name.ToString(), prepared.key, SnapshotLabels(layer, name));
  if (!unpacked.ok()) {
    snapshots_.Remove(prepared.key).IgnoreError();  // the first error is the one to tell
    return unpacked;
  }
  return LayerPulled::kUnpacked;
}

// containerd does not look for a snapshotter that has just (re)started before its own pause for connecting is over, and
// until then answers that nobody is there. Each attempt has a key of its own: the one before may have come through.
Result<Pull::Prepared> Pull::Prepare(size_t layer, const oci::ChainId& parent, const oci::ChainId& name) {
  const auto give_up = std::chrono::steady_clock::now() + kSnapshotterAbsence;
  while (true) {
    const std::string key = fmt::format("extract-{}-{} {}", std::chrono::steady_clock::now().time_since_epoch().count(),
                                        layer, name.ToString());
    auto mounts = snapshots_.Prepare(key, parent.empty() ? "" : parent.ToString(), SnapshotLabels(layer, name));
    if (mounts.ok()) return Prepared{key, std::move(*mounts)};
    const bool absent = mounts.status().code() == absl::StatusCode::kUnavailable;
    if (!absent || std::chrono::steady_clock::now() >= give_up || options_.stop.stop_requested()) {
      return mounts.status();
    }
    std::this_thread::sleep_for(kSnapshotterRetry);
  }
}

Status Pull::Unpack(size_t layer, const std::vector<ContainerdMount>& mounts) {
  const oci::Descriptor& descriptor = resolved_.manifest.layers[layer];
  if (downloads_ == nullptr) StartDownloads();
  SOCI_RETURN_IF_ERROR(downloads_->Finish(layer));
  if (progress_.unpacking) progress_.unpacking(layer);
  SOCI_ASSIGN_OR_RETURN(oci::DiffId diff_id, snapshots_.Apply(descriptor, mounts));
  if (diff_id != resolved_.config.diff_ids[layer]) {
    return absl::DataLossError(fmt::format("its tar is {}, the image says {}", diff_id.ToString(),
                                           resolved_.config.diff_ids[layer].ToString()));
  }
  return OkStatus();
}

Status Pull::CreateRecord() { return images_.Set(image_.ToString(), result_.target, {}); }

}  // namespace

std::string NeighboursLabel(const oci::Manifest& manifest, size_t layer) {
  std::string value;
  for (size_t i = layer; i < manifest.layers.size(); ++i) {
    const std::string digest = manifest.layers[i].digest.ToString();
    if (oci::kLabelImageLayers.size() + value.size() + 1 + digest.size() > kLongestLabel) break;
    if (!value.empty()) value += ",";
    value += digest;
  }
  return value;
}

Result<PulledImage> PullImage(RegistryClient& registry, ContainerdChannel& containerd, const oci::Reference& image,
                              const PullOptions& options, const PullProgress& progress) {
  Pull pull(registry, containerd, image, options, progress);
  SOCI_RETURN_IF_ERROR(pull.Resolve());
  if (progress.resolved) progress.resolved(pull.manifest());
  SOCI_ASSIGN_OR_RETURN(auto lease, ContainerdLease::Create(containerd));
  SOCI_RETURN_IF_ERROR(pull.StoreDocuments());
  SOCI_RETURN_IF_ERROR(pull.FillLayers());
  SOCI_RETURN_IF_ERROR(pull.CreateRecord());
  return pull.TakeResult();
}

}  // namespace soci
