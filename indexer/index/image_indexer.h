// Makes the SOCI index of one image: its layers side by side, each read once, then the index stored where the image is.
//
// An index is stored only when every layer has had its answer: blobs first, the manifest that lists them last. A layer
// that cannot be indexed is skipped with its reason; a source that fails ends the work with nothing stored. Index() is
// called from one thread at a time; a layer that several images share is read once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "indexer/base/fetch_context.h"
#include "indexer/index/image_home.h"
#include "indexer/index/layer_choice.h"
#include "indexer/index/layer_progress.h"
#include "indexer/index/prefetch.h"
#include "indexer/index/select_platforms.h"
#include "indexer/oci/annotations.h"
#include "indexer/record/record.h"

namespace soci {

struct CreateOptions {
  uint64_t span_size = uint64_t{4} << 20;
  uint64_t min_layer_size = uint64_t{10} << 20;
  std::string build_tool = std::string(oci::kBuildTool);
  bool mark_layers_without_xattrs = false;
  std::vector<std::string> prefetch_paths = {};
  std::optional<Record> prefetch_record = std::nullopt;  // what it needs is prefetched too
  size_t threads = 0;                                    // layers at once; 0: one per core
  bool verify = false;                                   // prove each zTOC right before anything is stored
  // Makes the tag that an index gets besides; null: none.
  std::function<std::string(const oci::Platform&)> index_tag = {};
};

struct LayerReport {
  oci::Descriptor layer;
  LayerOutcome outcome = LayerOutcome::kIndexed;
  std::string reason = {};    // unless indexed
  oci::Descriptor ztoc = {};  // if indexed, as all below
  oci::DiffId diff_id = {};
  uint64_t uncompressed_size = 0;
  size_t entries = 0;
  size_t spans = 0;
  uint64_t largest_span = 0;  // uncompressed
  bool from_cache = false;
};

struct ImageReport {
  oci::Platform platform;
  oci::Descriptor image;
  std::vector<LayerReport> layers;                // in image order
  std::optional<oci::Descriptor> index = {};      // nothing if no layer could be indexed
  std::vector<std::string> paths_not_found = {};  // of the prefetch paths
  uint64_t prefetch_spans = 0;
};

struct IndexedLayer;
struct LayerIndexOptions;
class ZtocCache;

class ImageIndexer {
 public:
  // Borrows home, progress and cache (null: none).
  ImageIndexer(ImageHome& home, CreateOptions options, LayerProgress& progress, ZtocCache* cache = nullptr);
  ~ImageIndexer();

  Result<ImageReport> Index(const PlatformImage& image, const FetchContext& context);

 private:
  struct ScannedEntry;
  using LayerKey = std::pair<oci::Digest, std::string>;  // digest and media type

  // Fills scanned_ for every layer of the image.
  Status ScanLayers(const PlatformImage& image, const FetchContext& context);
  Status CompareDiffIds(const PlatformImage& image, const ImageReport& report, const FetchContext& context);
  Status Verify(const oci::Descriptor& layer, const ByteSource& source, const IndexedLayer& indexed,
                const FetchContext& context);
  Result<IndexedLayer> IndexOne(const oci::Descriptor& layer, const LayerIndexOptions& options,
                                const FetchContext& context);
  Result<ScannedEntry> ScanOne(const oci::Descriptor& layer, const FetchContext& context);
  std::vector<std::vector<SpanIdRange>> PrefetchSpans(const std::vector<ScannedEntry*>& layers,
                                                      ImageReport& report) const;
  Status PutBlob(const oci::Descriptor& blob, std::string bytes);
  Status Store(ImageReport& report, const std::vector<ScannedEntry*>& layers);
  ImageReport Report(const PlatformImage& image, const std::vector<ScannedEntry*>& layers) const;

  ImageHome& home_;
  const CreateOptions options_;
  LayerProgress& progress_;
  ZtocCache* const cache_;
  std::map<LayerKey, ScannedEntry> scanned_;
};

}  // namespace soci
