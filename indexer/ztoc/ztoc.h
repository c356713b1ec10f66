// A zTOC as values: what one layer's table of contents says. Reading checks what the format promises, and nothing about
// the layer itself; see verify. Values; no thread rules.
//
// Entries and windows of a large layer are many MiB, so neither form holds them loosely: a draft, which is written, has
// the entries packed; a view, which is read, leaves both where they are and tells the entries one at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"
#include "indexer/oci/digest.h"
#include "indexer/tar/entries.h"
#include "indexer/tar/entry_list.h"

namespace soci {

struct ZtocHead {
  std::string build_tool;
  uint64_t compressed_size = 0;
  uint64_t uncompressed_size = 0;  // end of the archive, not of the stream
  Compression compression = Compression::kGzip;
  uint64_t span_size = 0;
  std::vector<Checkpoint> checkpoints;  // gzip only
  std::vector<oci::Digest> span_digests;

  // One extent per span digest.
  std::vector<SpanExtent> Spans() const;
};

struct ZtocDraft : ZtocHead {
  tar::EntryList entries;  // in tar order
  Windows windows;         // gzip only, one per checkpoint
};

struct ZtocView : ZtocHead {
  std::shared_ptr<const tar::Entries> entries;  // in tar order; never null, shared by copies of the view
  std::vector<ByteSpan> windows;                // gzip only, one per checkpoint
};

// The bytes that the reference tool would write. kInvalidArgument for what its format cannot hold. Entries and windows
// are let go as they are written, so that there is never much more than one zTOC in memory.
Result<std::string> EncodeZtoc(ZtocDraft ztoc);

// kInvalidArgument naming what is wrong; everything is checked here, so that reading the entries cannot fail. Little
// memory, whatever the bytes say. Borrows `bytes`, which are aligned as FlatBuffers want them: a string's are.
Result<ZtocView> ViewZtoc(std::string_view bytes);

// Borrows entries and windows.
ZtocView ViewOf(const ZtocDraft& draft);

}  // namespace soci
