#include "indexer/index/verify_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "indexer/index/find_index.h"
#include "indexer/index/parallel.h"
#include "indexer/index/verify_layer.h"
#include "indexer/oci/annotations.h"

namespace soci {
namespace {

bool IsFault(const Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsDataLoss(status) || absl::IsNotFound(status) ||
         absl::IsResourceExhausted(status);
}

struct Job {
  LayerVerdict* verdict;
  std::optional<oci::DiffId> diff_id;
};

// Finds what is wrong with the index as a document, and makes a job for each zTOC.
class Preparation {
 public:
  Preparation(const PlatformImage& image, const SociIndex& index, IndexVerdict& verdict)
      : image_(image), index_(index), verdict_(verdict) {}

  void CheckSubject() {
    if (index_.manifest.config.media_type != oci::kMediaTypeSociIndexV1) return;
    if (!index_.manifest.subject) {
      verdict_.faults.push_back("subject: missing in an index of version 1");
    } else if (index_.manifest.subject->digest != image_.descriptor.digest) {
      verdict_.faults.push_back(fmt::format("subject: {}, but the image is {}",
                                            index_.manifest.subject->digest.ToString(),
                                            image_.descriptor.digest.ToString()));
    }
  }

  void CheckArtifact(const oci::Descriptor& artifact) {
    if (artifact.media_type != oci::kMediaTypeZtoc) return;
    const auto annotation = artifact.annotations.find(std::string(oci::kAnnotationLayerDigest));
    const std::string layer_name = annotation == artifact.annotations.end() ? "" : annotation->second;
    const auto& layers = image_.manifest.layers;
    const auto layer = std::find_if(layers.begin(), layers.end(), [&](const oci::Descriptor& candidate) {
      return candidate.digest.ToString() == layer_name;
    });
    if (layer == layers.end()) {
      verdict_.faults.push_back(fmt::format("zTOC {}: its layer \"{}\" is not in the image", artifact.digest.ToString(),
                                            layer_name.substr(0, 80)));
      return;
    }
    // A layer that the image has twice is in the index twice.
    const bool known = std::any_of(verdict_.layers.begin(), verdict_.layers.end(), [&](const LayerVerdict& other) {
      return other.layer.digest == layer->digest && other.ztoc.digest == artifact.digest;
    });
    if (!known) verdict_.layers.push_back({.layer = *layer, .ztoc = artifact});
  }

 private:
  const PlatformImage& image_;
  const SociIndex& index_;
  IndexVerdict& verdict_;
};

Status VerifyOne(ImageHome& home, const Job& job, LayerProgress& progress, const FetchContext& context) {
  LayerVerdict& verdict = *job.verdict;
  std::string ztoc_bytes;  // of which the view is
  auto read_ztoc = [&]() -> Result<ZtocView> {
    SOCI_ASSIGN_OR_RETURN(ztoc_bytes, home.Read(verdict.ztoc, static_cast<uint64_t>(kMaxZtocBytes), context));
    return ViewZtoc(ztoc_bytes);
  };
  const Result<ZtocView> ztoc = read_ztoc();
  if (!ztoc.ok()) {
    if (!IsFault(ztoc.status())) return ztoc.status();
    verdict.faults.Add(fmt::format("zTOC {}: {}", verdict.ztoc.digest.ToString(), Message(ztoc.status())));
    return OkStatus();
  }
  verdict.spans = ztoc->span_digests.size();
  verdict.entries = ztoc->entries->size();
  Result<std::unique_ptr<ByteSource>> source = home.Open(verdict.layer);
  if (!source.ok()) {
    if (!IsFault(source.status())) return source.status();
    verdict.faults.Add(std::string(Message(source.status())));
    return OkStatus();
  }
  SOCI_ASSIGN_OR_RETURN(verdict.faults, VerifyLayer(
                                            **source, verdict.layer, *ztoc, job.diff_id,
                                            [&](uint64_t bytes) { progress.OnBytes(verdict.layer, bytes); }, context));
  return OkStatus();
}

}  // namespace

bool IndexVerdict::ok() const {
  return faults.empty() &&
         std::all_of(layers.begin(), layers.end(), [](const LayerVerdict& layer) { return layer.faults.empty(); });
}

Result<IndexVerdict> VerifyIndex(ImageHome& home, const PlatformImage& image, const SociIndex& index, size_t threads,
                                 LayerProgress& progress, const FetchContext& context) {
  IndexVerdict verdict;
  Preparation preparation(image, index, verdict);
  preparation.CheckSubject();
  for (const oci::Descriptor& artifact : index.manifest.layers) preparation.CheckArtifact(artifact);
  SOCI_ASSIGN_OR_RETURN(const std::vector<oci::DiffId> diff_ids, ReadDiffIds(home, image, context));
  std::vector<Job> jobs;
  for (LayerVerdict& layer : verdict.layers) {
    const auto& layers = image.manifest.layers;
    const auto place = std::find(layers.begin(), layers.end(), layer.layer);
    jobs.push_back({&layer, diff_ids[static_cast<size_t>(place - layers.begin())]});
  }
  std::stop_source stop;
  std::stop_callback follow(context.stop, [&] { stop.request_stop(); });
  FetchContext inner = context;
  inner.stop = stop.get_token();
  SOCI_RETURN_IF_ERROR(ForEachInParallel(jobs, threads, stop, [&](const Job& job) -> Status {
    const oci::Descriptor& layer = job.verdict->layer;
    progress.OnStart(layer);
    const Status status = VerifyOne(home, job, progress, inner);
    if (!status.ok()) return Annotate(status, fmt::format("layer {}", layer.digest.ToString()));
    const LayerFaults& faults = job.verdict->faults;
    progress.OnEnd(layer, faults.empty() ? LayerOutcome::kIndexed : LayerOutcome::kRefused,
                   fmt::format("{} faults", faults.lines().size() + faults.left_out()));
    return OkStatus();
  }));
  return verdict;
}

}  // namespace soci
