// How the replay of an image went or is going, for status and metrics. A value.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "indexer/oci/digest.h"
#include "snapshotter/replay/replay_cursor.h"

namespace soci {

enum class RecordSource { kNone, kOwn, kPublished };

constexpr std::string_view ToString(RecordSource source) {
  switch (source) {
    case RecordSource::kNone:
      return "none";
    case RecordSource::kOwn:
      return "own";
    case RecordSource::kPublished:
      return "published";
  }
  return "";
}

struct ReplayReport {
  std::string image;
  oci::Digest manifest;
  RecordSource source = RecordSource::kNone;
  std::string state;   // looking, none, running, done, overtaken, wrong, stopped; recording is told beside it
  std::string reason;  // in one line, where there is more to say
  bool recording = false;
  uint64_t extents = 0;          // of the record
  uint64_t unknown_extents = 0;  // of them, of files that their layers do not have, or not of that size
  uint64_t unused_extents = 0;   // of them, of layers that take no part: complete, not there yet, or not ours
  uint64_t bytes = 0;            // compressed, that came
  ReplayCounts counts;
  // What the reads that hit would have cost if each had waited once: the mean of the waits there were, or without
  // enough of them the fastest fetch of the replay itself. A program that reads on several threads waits less.
  std::chrono::milliseconds time_won{0};
};

}  // namespace soci
