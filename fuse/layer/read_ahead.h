// Guesses which spans of a layer a program will want next, from what it has read so far. Two guesses: a file that is
// read in order goes on being read in order, and what lies behind a span that had to be fetched is wanted soon (the
// files of one package lie together in a layer).
//
// A guess costs transfers, so it must prove itself: what was guessed and not used is bounded by what was used, and a
// file or a layer whose guesses are not used gets no more. Counted in spans and bytes, not in time. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "indexer/base/mutex.h"
#include "indexer/base/ranges.h"
#include "indexer/table/layer_table.h"

namespace soci {

struct ReadAheadOptions {
  uint64_t window = 32 << 20;  // most uncompressed bytes ahead of a program that reads in order; 0: none
  uint32_t neighbours = 4;     // spans after one that was not there; 0: none
};

class ReadAhead {
 public:
  ReadAhead(std::shared_ptr<const LayerTable> table, const ReadAheadOptions& options);

  // Spans to fetch now, those that are needed first in front; some may be there already. `wanted` is where the bytes
  // lie in the tar, within the file's content; `missed`: they were not there.
  std::vector<SpanId> OnRead(InodeId file, const UncompressedRange& content, const UncompressedRange& wanted,
                             bool missed);

 private:
  // How one file is read.
  struct Reading {
    uint64_t run_begin = 0;  // since the last seek, in the tar
    uint64_t run_end = 0;
    uint64_t run_bytes = 0;  // read of it
    uint64_t asked_to = 0;   // ahead of the run
    uint32_t guessed = 0;    // spans, after a miss in this file
    uint32_t used = 0;
    bool hopeless = false;  // judged: what is read at random is hit by some guesses in the end
  };

  bool NoteUse(SpanId span) SOCI_REQUIRES(mutex_);
  void GuessNeighbours(Reading& reading, InodeId file, SpanId last, std::vector<SpanId>& spans) SOCI_REQUIRES(mutex_);
  void FollowRun(Reading& reading, const UncompressedRange& content, const UncompressedRange& wanted,
                 std::vector<SpanId>& spans) SOCI_REQUIRES(mutex_);
  Reading& ReadingOf(InodeId file) SOCI_REQUIRES(mutex_);

  const std::shared_ptr<const LayerTable> table_;
  const ReadAheadOptions options_;

  Mutex mutex_;  // a leaf
  std::unordered_map<InodeId, Reading> readings_ SOCI_GUARDED_BY(mutex_);
  std::vector<bool> used_spans_ SOCI_GUARDED_BY(mutex_);
  std::map<SpanId, InodeId> open_guesses_ SOCI_GUARDED_BY(mutex_);  // not used so far, and by which file's misses
  uint64_t used_bytes_ SOCI_GUARDED_BY(mutex_) = 0;                 // compressed, as all that the bound is about
  uint64_t unused_bytes_ SOCI_GUARDED_BY(mutex_) = 0;
  uint64_t guessed_ SOCI_GUARDED_BY(mutex_) = 0;  // spans, in all
  uint64_t proved_ SOCI_GUARDED_BY(mutex_) = 0;   // of those, used since
};

}  // namespace soci
