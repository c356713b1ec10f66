// Reads a layer once, from its first byte to its last, and makes its zTOC, its DiffID and its own digest on the way.
//
// Memory: the result, and a few MiB. One thread at a time; several scanners may run side by side.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "indexer/base/byte_stream.h"
#include "indexer/base/result.h"
#include "indexer/oci/annotations.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {

class TarObserver;

struct ScanOptions {
  uint64_t span_size = 4 << 20;
  std::string build_tool = std::string(oci::kBuildTool);
  // False: the digests of a plain tar's spans are left empty, as nobody will fetch them.
  bool hash_spans = true;
  // Told now and then how many compressed bytes were read.
  std::function<void(uint64_t)> progress = {};
  // Sees the tar on the way; may be null.
  TarObserver* observer = nullptr;
};

// What a zTOC that the reference tool would write cannot say about its layer, or says so that readers stumble.
enum class Hazard : uint8_t {
  kSparseFile,       // the file's holes are not told: its content would be wrong
  kMisplacedHeader,  // readers derive a wrong place for a member's header, and refuse the table
  kLossyTime,        // a modification time that the format cannot write
  kForeignStream,    // a zlib stream after the gzip members: no runtime can unpack this layer
  kRepeatedStart,    // empty blocks in front of all data: several checkpoints at 0, which some readers refuse to mount
};

struct LayerHazard {
  Hazard kind;
  std::string reason;  // one line, naming the first member or place
};

struct ScannedLayer {
  ZtocDraft ztoc;
  oci::LayerDigest layer;
  oci::DiffId diff_id;
  std::vector<LayerHazard> hazards;  // at most one of each kind

  // The hazard, if any, for which the table does not tell the layer exactly: the layer had better be left without one.
  // A repeated start is none of these.
  const LayerHazard* WhyNotExact() const;
};

// kInvalidArgument, saying why, for a layer that cannot be indexed exactly (damaged, unsupported member, trailing
// bytes).
Result<ScannedLayer> ScanLayer(ByteStream& layer, Compression compression, const ScanOptions& options);

}  // namespace soci
