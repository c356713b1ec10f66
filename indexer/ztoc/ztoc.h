// A zTOC as values: what one layer's table of contents says. Reading checks what the format promises, and nothing about
// the layer itself; see verify. Values; no thread rules.
//
// Ztoc is the one to work with. Entries and windows of a large layer are many MiB, so a draft, which is being written,
// holds the entries packed, and a view, which is compared with the layer, leaves the windows where they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"
#include "indexer/oci/digest.h"
#include "indexer/tar/entry.h"
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

struct Ztoc : ZtocHead {
  std::vector<tar::Entry> entries;  // in tar order
  Windows windows;                  // gzip only, one per checkpoint
};

struct ZtocDraft : ZtocHead {
  tar::EntryList entries;  // in tar order
  Windows windows;         // gzip only, one per checkpoint
};

struct ZtocView : ZtocHead {
  tar::EntryList entries;         // in tar order
  std::vector<ByteSpan> windows;  // gzip only, one per checkpoint; borrowed
};

// The bytes that the reference tool would write. kInvalidArgument for what its format cannot hold. Entries and windows
// are let go as they are written, so that there is never much more than one zTOC in memory.
Result<std::string> EncodeZtoc(ZtocDraft ztoc);
Result<std::string> EncodeZtoc(Ztoc ztoc);

// kInvalidArgument naming what is wrong. Bounded: never uses more memory than a small multiple of the input.
Result<Ztoc> DecodeZtoc(std::string_view bytes);
// The same, in little memory. Borrows `bytes`, which are aligned as FlatBuffers want them: a string's are.
Result<ZtocView> ViewZtoc(std::string_view bytes);

Ztoc Unpack(ZtocDraft draft);
// Borrows the windows.
ZtocView ViewOf(const Ztoc& ztoc);

}  // namespace soci
