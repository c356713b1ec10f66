// The spans of a layer that a record asks for: what the reference project's snapshotter is told by a prefetch artifact.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "indexer/index/prefetch.h"
#include "indexer/oci/digest.h"
#include "indexer/record/record.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {

// By the record's files (their place in it): the spans of what it needs of each, for every file whose path the layer
// has. No spans for a file that is another one here.
using RecordedSpans = std::map<uint32_t, std::vector<SpanIdRange>>;
RecordedSpans FindRecordedSpans(const ZtocHead& ztoc, const tar::Entries& entries, const Record& record);

// For each layer of an image, given in order with what was found in it, the spans to fetch, merged: a file of a layer
// that the image has is taken there, any other one in the topmost layer that has its path.
struct LayerSpansFound {
  oci::LayerDigest layer;
  const RecordedSpans* found = nullptr;  // null: the layer has no zTOC
};
std::vector<std::vector<SpanIdRange>> ChooseRecordedSpans(const Record& record,
                                                          const std::vector<LayerSpansFound>& layers);

}  // namespace soci
