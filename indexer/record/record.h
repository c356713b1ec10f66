// What a program needs of an image, in the order in which it first needs it: extents of file data, with the time it
// works between them. Made on one host, replayed on any.
//
// A value. It speaks of files by path and size within a layer, not of spans, so that it outlives an index, and serves
// the image's next version. Never trusted: CheckRecord says what a sound one is, and whoever replays it looks every
// path up in the layer's own table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/oci/digest.h"

namespace soci {

struct RecordedFile {
  uint32_t layer = 0;  // index into Record::layers
  std::string path;    // within the layer, without a slash in front
  uint64_t size = 0;

  auto operator<=>(const RecordedFile&) const = default;
};

// Whole pages of a file; the last one ends with the file.
struct RecordedExtent {
  uint32_t file = 0;  // index into Record::files
  uint64_t offset = 0;
  uint64_t size = 0;
  // What the program did since the extent before, without the time it waited for bytes; in steps of kThinkStep. Where
  // the extents begin that not every run needs, it counts from the program's start again.
  uint64_t think_us = 0;
  // Which of Record::runs needed it, one bit each. 0 in the record of one run.
  uint64_t runs = 0;

  uint64_t end() const { return offset + size; }
  bool operator==(const RecordedExtent&) const = default;
};

struct Record {
  oci::Digest manifest;                  // of the image on one platform
  std::vector<oci::LayerDigest> layers;  // those that were known, each once; in image order, but see MergeRecords
  std::vector<RecordedFile> files;       // by layer, then path
  std::vector<uint64_t> runs;            // the names of those it was merged of, sorted; empty: it is of one run
  std::vector<RecordedExtent> extents;   // no byte twice; first what all runs need, each part in order of first need

  bool operator==(const Record&) const = default;
};

inline constexpr uint64_t kRecordPage = 4096;
inline constexpr uint64_t kThinkStep = 100;  // microseconds
inline constexpr size_t kMostRecordLayers = 1024;
inline constexpr size_t kMostRecordExtents = 200'000;
inline constexpr size_t kMostRecordRuns = 64;

bool IsNeededByAll(const Record& record, const RecordedExtent& extent);

// When each extent is needed, in microseconds of the program's own time since its start.
std::vector<uint64_t> NeedTimes(const Record& record);

// kInvalidArgument with one line that says what is wrong: limits, a path that leads out of its layer, an extent that
// is empty, not of whole pages, beyond its file or there twice, files, runs or extents out of order, an index that
// names nothing.
Status CheckRecord(const Record& record);

}  // namespace soci
