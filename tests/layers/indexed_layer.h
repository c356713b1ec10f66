// A layer made for a test: its blob, its index and its table, from a tar. Values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "indexer/base/bytes.h"
#include "indexer/codec/checkpoint.h"
#include "indexer/oci/digest.h"
#include "indexer/table/layer_table.h"
#include "indexer/ztoc/ztoc.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci::test {

struct IndexedLayer {
  std::string tar;
  std::string blob;  // as a registry would have it
  test::Ztoc ztoc;
  oci::LayerDigest digest;
  oci::DiffId diff_id;
  std::string table_bytes;
  std::shared_ptr<const LayerTable> table;

  // The decoded bytes of a span, cut from the tar.
  ByteSpan Decoded(SpanId span) const;
};

struct IndexedLayerOptions {
  Compression compression = Compression::kGzip;
  uint64_t span_size = 4096;
  // Deflate blocks end, at the latest, after so many bytes: more of them make more places for checkpoints. 0: as zlib
  // likes.
  uint64_t block_size = 2048;
};

// Compressed as asked, indexed by our scanner, compiled. Throws std::runtime_error with the reason if any step refuses.
IndexedLayer MakeIndexedLayer(std::string tar, const IndexedLayerOptions& options = {});

// The same with a blob that was compressed elsewhere.
IndexedLayer IndexLayer(std::string tar, std::string blob, const IndexedLayerOptions& options = {});

// One gzip member with a block border after every `block_size` bytes (0: where zlib likes).
std::string GzipBlocks(std::string_view bytes, uint64_t block_size);

}  // namespace soci::test
