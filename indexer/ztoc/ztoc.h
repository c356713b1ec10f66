// A zTOC as values: what one layer's table of contents says. Reading checks what the format promises, and nothing about
// the layer itself; see verify. A value; no thread rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"
#include "indexer/oci/digest.h"
#include "indexer/tar/entry.h"

namespace soci {

struct Ztoc {
  std::string build_tool;
  uint64_t compressed_size = 0;
  uint64_t uncompressed_size = 0;  // end of the archive, not of the stream
  Compression compression = Compression::kGzip;
  uint64_t span_size = 0;
  std::vector<tar::Entry> entries;      // in tar order
  std::vector<Checkpoint> checkpoints;  // gzip only
  Windows windows;                      // gzip only, one per checkpoint
  std::vector<oci::Digest> span_digests;

  // One extent per span digest.
  std::vector<SpanExtent> Spans() const;
};

// The bytes that the reference tool would write. kInvalidArgument for what its format cannot hold. Entries and windows
// are let go as they are written, so that there is never much more than one zTOC in memory.
Result<std::string> EncodeZtoc(Ztoc ztoc);

// kInvalidArgument naming what is wrong. Bounded: never uses more memory than a small multiple of the input.
Result<Ztoc> DecodeZtoc(std::string_view bytes);

}  // namespace soci
