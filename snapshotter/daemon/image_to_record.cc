#include "snapshotter/daemon/image_to_record.h"

#include <fmt/format.h>

#include "indexer/content/containerd_content.h"
#include "indexer/content/containerd_images.h"
#include "indexer/content/containerd_snapshots.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/platform.h"
#include "indexer/registry/registry_client.h"
#include "snapshotter/daemon/image_pull.h"
#include "snapshotter/daemon/registry_parts.h"
#include "snapshotter/daemon/verbs.h"

namespace soci {
namespace {

constexpr uint64_t kLargestDocument = 16 << 20;

Result<ImageToRecord> ReadImage(ContainerdContent& content, const std::string& name, const oci::Digest& target) {
  ImageToRecord image;
  image.name = name;
  image.digest = target;
  SOCI_ASSIGN_OR_RETURN(std::string document, content.Read(target, kLargestDocument));
  if (auto index = oci::ImageIndex::Parse(document); index.ok() && !index->manifests.empty()) {
    const oci::Descriptor* entry = oci::FindPlatform(*index, oci::HostPlatform());
    if (entry == nullptr) {
      return absl::NotFoundError(fmt::format("it has no image for {}", oci::HostPlatform().ToString()));
    }
    image.digest = entry->digest;
    SOCI_ASSIGN_OR_RETURN(document, content.Read(image.digest, kLargestDocument));
  }
  SOCI_ASSIGN_OR_RETURN(image.manifest, oci::Manifest::Parse(document));
  return image;
}

// Whether the snapshotter has all of its layers.
Result<bool> IsUnpacked(ContainerdContent& content, ContainerdSnapshots& snapshots, const ImageToRecord& image) {
  SOCI_ASSIGN_OR_RETURN(const std::string bytes, content.Read(image.manifest.config.digest, kLargestDocument));
  SOCI_ASSIGN_OR_RETURN(const oci::ImageConfig config, oci::ImageConfig::Parse(bytes));
  oci::ChainId chain;
  for (const oci::DiffId& diff_id : config.diff_ids) chain = oci::Stack(chain, diff_id);
  return snapshots.Exists(chain.ToString());
}

}  // namespace

Result<ImageToRecord> FindImageToRecord(const RecordOptions& options, const oci::Reference& reference,
                                        const std::stop_token& stop) {
  ContainerdChannel::Options connection;
  connection.address = options.containerd;
  connection.containerd_namespace = options.containerd_namespace;
  connection.stop = stop;
  SOCI_ASSIGN_OR_RETURN(auto channel, ContainerdChannel::Connect(std::move(connection)));
  ContainerdImages images(*channel);
  ContainerdContent content(*channel);
  ContainerdSnapshots snapshots(*channel, options.snapshotter);

  SOCI_ASSIGN_OR_RETURN(const std::optional<oci::Descriptor> known, images.Find(reference.ToString()));
  if (known) {
    const Result<ImageToRecord> image = ReadImage(content, reference.ToString(), known->digest);
    if (image.ok()) {
      const Result<bool> unpacked = IsUnpacked(content, snapshots, *image);
      if (unpacked.ok() && *unpacked) return image;
    }
  }
  RegistryConfig config;
  config.hosts_directory = options.hosts_directory;
  SOCI_ASSIGN_OR_RETURN(auto registry, RegistryParts::Make(config, {options.plain_http}));
  PullOptions pull;
  pull.snapshotter = options.snapshotter;
  pull.stop = stop;
  fmt::print(stderr, "pulling {}\n", reference.ToString());
  SOCI_ASSIGN_OR_RETURN(const PulledImage pulled, PullImage(registry->client(), *channel, reference, pull, {}));
  return ReadImage(content, reference.ToString(), pulled.manifest);
}

std::string RecordingLabel(std::string_view recording) { return fmt::format("{}={}", oci::kLabelRecording, recording); }

}  // namespace soci
