#include "indexer/index/image_indexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <stop_token>

#include "indexer/index/index_builder.h"
#include "indexer/index/layer_indexer.h"
#include "indexer/index/parallel.h"
#include "indexer/index/verify_layer.h"
#include "indexer/index/ztoc_cache.h"

namespace soci {
namespace {

oci::Descriptor BlobOf(std::string_view bytes) {
  return {.media_type = std::string(oci::kMediaTypeZtoc),
          .digest = oci::Digest::Of(bytes),
          .size = static_cast<int64_t>(bytes.size())};
}

// A fault of the layer, not of the way to it.
bool IsLayersFault(const Status& status) { return absl::IsInvalidArgument(status) || absl::IsDataLoss(status); }

}  // namespace

// What is known of a layer once it was looked at. The zTOC's bytes are let go when they are stored.
struct ImageIndexer::ScannedEntry {
  LayerOutcome outcome = LayerOutcome::kIndexed;
  std::string reason = {};
  IndexedLayer indexed = {};
  oci::Descriptor ztoc = {};
  bool from_cache = false;
  bool stored = false;
};

// Reads the layer once more and proves the zTOC right, as a reader gets it. A fault here is one of this program.
Status ImageIndexer::Verify(const oci::Descriptor& layer, const ByteSource& source, const IndexedLayer& indexed,
                            const FetchContext& context) {
  const Result<ZtocView> ztoc = ViewZtoc(indexed.ztoc);
  if (!ztoc.ok()) return absl::InternalError(fmt::format("the zTOC cannot be read back: {}", Message(ztoc.status())));
  SOCI_ASSIGN_OR_RETURN(
      const LayerFaults faults,
      VerifyLayer(
          source, layer, *ztoc, indexed.diff_id, [&](uint64_t bytes) { progress_.OnBytes(layer, bytes); }, context));
  if (faults.empty()) return OkStatus();
  return absl::InternalError(fmt::format("the zTOC is not right: {}", faults.lines().front()));
}

ImageIndexer::ImageIndexer(ImageHome& home, CreateOptions options, LayerProgress& progress, ZtocCache* cache)
    : home_(home), options_(std::move(options)), progress_(progress), cache_(cache) {}
ImageIndexer::~ImageIndexer() = default;

Result<ImageReport> ImageIndexer::Index(const PlatformImage& image, const FetchContext& context) {
  SOCI_RETURN_IF_ERROR(ScanLayers(image, context));
  std::vector<ScannedEntry*> layers;
  for (const oci::Descriptor& layer : image.manifest.layers) {
    layers.push_back(&scanned_.at({layer.digest, layer.media_type}));
  }
  ImageReport report = Report(image, layers);
  if (options_.verify) SOCI_RETURN_IF_ERROR(CompareDiffIds(image, report, context));
  const bool any = std::any_of(layers.begin(), layers.end(),
                               [](const ScannedEntry* layer) { return layer->outcome == LayerOutcome::kIndexed; });
  if (any) SOCI_RETURN_IF_ERROR(Store(report, layers));
  return report;
}

Status ImageIndexer::ScanLayers(const PlatformImage& image, const FetchContext& context) {
  std::vector<oci::Descriptor> jobs;
  for (const oci::Descriptor& layer : image.manifest.layers) {
    const LayerKey key{layer.digest, layer.media_type};
    if (scanned_.contains(key)) continue;
    const LayerChoice choice = ChooseLayer(layer, options_.min_layer_size);
    scanned_[key] = {.outcome = choice.outcome, .reason = choice.reason};
    if (choice.outcome == LayerOutcome::kIndexed) {
      jobs.push_back(layer);
    } else {
      progress_.OnEnd(layer, choice.outcome, choice.reason);
    }
  }
  // The largest first, so that it does not run alone at the end.
  std::stable_sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.size > b.size; });
  std::stop_source stop;
  std::stop_callback follow(context.stop, [&] { stop.request_stop(); });
  FetchContext inner = context;
  inner.stop = stop.get_token();
  const Status status = ForEachInParallel(jobs, options_.threads, stop, [&](const oci::Descriptor& layer) -> Status {
    Result<ScannedEntry> entry = ScanOne(layer, inner);
    if (!entry.ok()) return Annotate(entry.status(), fmt::format("layer {}", layer.digest.ToString()));
    progress_.OnEnd(layer, entry->outcome, entry->reason);
    // Each job has an element of its own, and nobody inserts while jobs run.
    scanned_.at({layer.digest, layer.media_type}) = *std::move(entry);
    return OkStatus();
  });
  if (!status.ok()) scanned_.clear();
  if (status.ok() && context.stop.stop_requested()) return absl::CancelledError("stopped");
  return status;
}

Status ImageIndexer::CompareDiffIds(const PlatformImage& image, const ImageReport& report,
                                    const FetchContext& context) {
  SOCI_ASSIGN_OR_RETURN(const std::vector<oci::DiffId> diff_ids, ReadDiffIds(home_, image, context));
  for (size_t i = 0; i < report.layers.size(); ++i) {
    const LayerReport& layer = report.layers[i];
    if (layer.outcome != LayerOutcome::kIndexed || layer.diff_id == diff_ids[i]) continue;
    return absl::DataLossError(fmt::format("layer {}: its DiffID is {}, the image config says {}",
                                           layer.layer.digest.ToString(), layer.diff_id.ToString(),
                                           diff_ids[i].ToString()));
  }
  return OkStatus();
}

Result<IndexedLayer> ImageIndexer::IndexOne(const oci::Descriptor& layer, const LayerIndexOptions& options,
                                            const FetchContext& context) {
  SOCI_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, home_.Open(layer));
  const LayerChoice choice = ChooseLayer(layer, options_.min_layer_size);
  SOCI_ASSIGN_OR_RETURN(IndexedLayer indexed, IndexLayer(
                                                  *source, layer, choice.compression, options,
                                                  [&](uint64_t bytes) { progress_.OnBytes(layer, bytes); }, context));
  if (options_.verify) SOCI_RETURN_IF_ERROR(Verify(layer, *source, indexed, context));
  if (cache_ != nullptr) SOCI_RETURN_IF_ERROR(Annotate(cache_->Store(layer, options, indexed), "cache"));
  return indexed;
}

Result<ImageIndexer::ScannedEntry> ImageIndexer::ScanOne(const oci::Descriptor& layer, const FetchContext& context) {
  const LayerIndexOptions options{.span_size = options_.span_size,
                                  .build_tool = options_.build_tool,
                                  .prefetch_paths = options_.prefetch_paths,
                                  .record = options_.prefetch_record ? &*options_.prefetch_record : nullptr};
  ScannedEntry entry;
  // Who wants proof gets it from the layer.
  std::optional<IndexedLayer> cached =
      cache_ != nullptr && !options_.verify ? cache_->Find(layer, options) : std::nullopt;
  if (cached) {
    entry.from_cache = true;
    entry.ztoc = BlobOf(cached->ztoc);
    entry.indexed = *std::move(cached);
    return entry;
  }
  progress_.OnStart(layer);
  Result<IndexedLayer> indexed = IndexOne(layer, options, context);
  if (indexed.ok()) {
    entry.ztoc = BlobOf(indexed->ztoc);
    entry.indexed = *std::move(indexed);
  } else if (IsLayersFault(indexed.status())) {
    entry.outcome = LayerOutcome::kRefused;
    entry.reason = Message(indexed.status());
  } else {
    return indexed.status();
  }
  return entry;
}

ImageReport ImageIndexer::Report(const PlatformImage& image, const std::vector<ScannedEntry*>& layers) const {
  ImageReport report{.platform = image.platform, .image = image.descriptor, .layers = {}};
  for (size_t i = 0; i < layers.size(); ++i) {
    const ScannedEntry& entry = *layers[i];
    report.layers.push_back({.layer = image.manifest.layers[i],
                             .outcome = entry.outcome,
                             .reason = entry.reason,
                             .ztoc = entry.ztoc,
                             .diff_id = entry.indexed.diff_id,
                             .uncompressed_size = entry.indexed.uncompressed_size,
                             .entries = entry.indexed.entries,
                             .spans = entry.indexed.spans,
                             .largest_span = entry.indexed.largest_span,
                             .from_cache = entry.from_cache});
  }
  return report;
}

// For each layer, merged, the spans of the prefetch paths that it is the topmost to have, and those of the record;
// tells in the report which paths none has.
std::vector<std::vector<SpanIdRange>> ImageIndexer::PrefetchSpans(const std::vector<ScannedEntry*>& layers,
                                                                  ImageReport& report) const {
  std::vector<std::vector<SpanIdRange>> spans(layers.size());
  for (size_t path = 0; path < options_.prefetch_paths.size(); ++path) {
    auto has = [&](const ScannedEntry* layer) {
      return path < layer->indexed.prefetch.size() && layer->indexed.prefetch[path];
    };
    const auto topmost = std::find_if(layers.rbegin(), layers.rend(), has);
    if (topmost == layers.rend()) {
      report.paths_not_found.push_back(options_.prefetch_paths[path]);
    } else {
      spans[layers.rend() - topmost - 1].push_back(*(*topmost)->indexed.prefetch[path]);
    }
  }
  if (options_.prefetch_record) {
    std::vector<LayerSpansFound> found;
    for (size_t i = 0; i < layers.size(); ++i) {
      found.push_back({oci::LayerDigest(report.layers[i].layer.digest), &layers[i]->indexed.recorded});
    }
    const auto recorded = ChooseRecordedSpans(*options_.prefetch_record, found);
    for (size_t i = 0; i < spans.size(); ++i) spans[i].insert(spans[i].end(), recorded[i].begin(), recorded[i].end());
  }
  for (std::vector<SpanIdRange>& of_layer : spans) {
    of_layer = MergeRanges(std::move(of_layer));
    for (const SpanIdRange& range : of_layer) report.prefetch_spans += range.last - range.first + 1;
  }
  return spans;
}

Status ImageIndexer::PutBlob(const oci::Descriptor& blob, std::string bytes) {
  return Annotate(home_.PutBlob(blob, std::move(bytes)), fmt::format("storing {}", blob.digest.ToString()));
}

Status ImageIndexer::Store(ImageReport& report, const std::vector<ScannedEntry*>& layers) {
  IndexContents contents{
      .ztocs = {}, .prefetch = {}, .span_size = options_.span_size, .build_tool = options_.build_tool};
  const auto prefetch_spans = PrefetchSpans(layers, report);
  SOCI_RETURN_IF_ERROR(PutBlob(BlobOf(oci::kEmptyConfig), std::string(oci::kEmptyConfig)));
  for (size_t i = 0; i < layers.size(); ++i) {
    ScannedEntry& entry = *layers[i];
    if (entry.outcome != LayerOutcome::kIndexed) continue;
    const bool no_xattrs = options_.mark_layers_without_xattrs && !entry.indexed.has_xattrs;
    contents.ztocs.push_back({.layer = report.layers[i].layer, .artifact = entry.ztoc, .disable_xattrs = no_xattrs});
    if (!entry.stored) {
      if (Status status = PutBlob(entry.ztoc, std::move(entry.indexed.ztoc)); !status.ok()) {
        scanned_.clear();  // its bytes are gone
        return status;
      }
    }
    entry.stored = true;
    if (prefetch_spans[i].empty()) continue;
    const std::string prefetch = PrefetchArtifactJson(prefetch_spans[i]);
    contents.prefetch.push_back({.layer = report.layers[i].layer, .artifact = BlobOf(prefetch)});
    SOCI_RETURN_IF_ERROR(PutBlob(BlobOf(prefetch), prefetch));
  }
  const oci::Manifest index = MakeSociIndexV1(contents, report.image);
  const std::string json = index.ToJson();
  const oci::Descriptor descriptor = ReferrerDescriptor(index, json);
  SOCI_RETURN_IF_ERROR(Annotate(home_.PutReferrer(descriptor, json, report.image.digest),
                                fmt::format("storing the SOCI index {}", descriptor.digest.ToString())));
  if (options_.index_tag) {
    SOCI_RETURN_IF_ERROR(Annotate(home_.Tag(descriptor, json, options_.index_tag(report.platform)),
                                  fmt::format("tagging the SOCI index {}", descriptor.digest.ToString())));
  }
  report.index = descriptor;
  return OkStatus();
}

}  // namespace soci
