// One layer, read once, becomes a zTOC: its bytes, ready to be stored.
//
// Blocks until the layer is read; one thread per call, any number of calls at once. Memory: the zTOC and a few MiB.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "indexer/base/byte_source.h"
#include "indexer/index/prefetch.h"
#include "indexer/index/recorded_spans.h"
#include "indexer/oci/descriptor.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {

struct LayerIndexOptions {
  uint64_t span_size = 0;
  std::string build_tool = {};
  std::vector<std::string> prefetch_paths = {};  // clean
  const Record* record = nullptr;                // of what is to be fetched too; may be null
};

struct IndexedLayer {
  std::string ztoc;  // encoded
  oci::DiffId diff_id;
  uint64_t uncompressed_size = 0;
  size_t entries = 0;
  size_t spans = 0;
  uint64_t largest_span = 0;                              // uncompressed
  bool has_xattrs = false;                                // or an opaque mark, which becomes one
  std::vector<std::optional<SpanIdRange>> prefetch = {};  // one for each path
  RecordedSpans recorded = {};
};

// What is told of a layer with this zTOC and these entries in it, but for the encoded bytes.
IndexedLayer DescribeLayer(const ZtocHead& ztoc, const tar::Entries& entries, const oci::DiffId& diff_id,
                           const LayerIndexOptions& options);

// kInvalidArgument, saying why, for a layer that cannot be indexed exactly or whose media type lies about its
// compression; kDataLoss if the bytes do not match `layer`'s digest; else what the source says.
Result<IndexedLayer> IndexLayer(const ByteSource& source, const oci::Descriptor& layer, Compression claimed,
                                const LayerIndexOptions& options, const std::function<void(uint64_t)>& progress,
                                const FetchContext& context);

}  // namespace soci
