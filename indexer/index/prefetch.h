// Which spans a list of files lies in, and the prefetch artifact that says so. Pure.
//
// Paths are looked for as the reference tool does: cleaned, without a leading slash, equal byte for byte to the tar's
// own names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/ztoc/ztoc.h"

namespace soci {

// Both ends belong to it.
struct SpanIdRange {
  uint64_t first = 0;
  uint64_t last = 0;

  bool operator==(const SpanIdRange&) const = default;
};

// "." and ".." resolved, doubled slashes and the leading one gone, white space around it trimmed.
std::string CleanPath(std::string_view path);

// The span that holds this byte of the tar; the last one for what lies behind all.
uint64_t SpanAt(const ZtocHead& ztoc, uint64_t uncompressed_offset);

// For each path (clean already) the spans of the first entry of that name; nothing if the layer has none. `entries` are
// those of the zTOC.
std::vector<std::optional<SpanIdRange>> FindSpans(const ZtocHead& ztoc, const tar::Entries& entries,
                                                  const std::vector<std::string>& paths);

// Sorted; ranges that overlap or touch are one.
std::vector<SpanIdRange> MergeRanges(std::vector<SpanIdRange> ranges);

// The artifact's bytes; `ranges` is not empty.
std::string PrefetchArtifactJson(const std::vector<SpanIdRange>& ranges);

}  // namespace soci
