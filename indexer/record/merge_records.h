// Merges the records of several runs of one image: entry points, ranks, hosts. Pure; any thread.
//
// First comes what all runs need, then what some need, each in order of need: a range is needed when the first run
// needed it. Which pages are needed, when, and by which runs does not depend on how records are paired or ordered, and
// a record that is merged in again changes nothing; pages needed at one time stay in the order of the first record that
// has them.
//
// Runs may have known different layers, as an index came later or a layer was local then. The merged record has all of
// them, in image order if all records tell the same ones and else in the order of their digests. A run that did not
// know a layer says nothing about it: what those need of it that knew it, it counts as needing too. Which runs a page
// that not all of those need is said to be of may so depend on the pairs; whether all need it does not.
//
// Of more than kMostRecordRuns runs those with the lowest names are kept: names are hashes, so they are a
// fair sample.
#pragma once

#include <string>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/record/record.h"

namespace soci {

// As large as a record is by rule, encoded.
inline constexpr size_t kUsualRecordBytes = 64 << 10;

// Of sound records. kInvalidArgument if there is none, if they are of different images, differ about a file's size, or
// have more than kMostRecordLayers together.
Result<Record> MergeRecords(const std::vector<Record>& records);

// As much of the record as can be encoded in `most_bytes`: what is needed latest is cut. kInvalidArgument if not even
// an empty one can.
Result<Record> CutRecord(Record record, size_t most_bytes = kUsualRecordBytes);

}  // namespace soci
