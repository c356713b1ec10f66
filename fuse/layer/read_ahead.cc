#include "fuse/layer/read_ahead.h"

#include <algorithm>
#include <utility>

namespace soci {
namespace {

// Figures from a recorded `import torch` and its simulation (bench/results/0002-read-ahead.md).
constexpr uint64_t kShortestRun = 512 << 10;  // read in order before it counts as such
constexpr uint64_t kReorder = 2 << 20;        // the kernel sends the parts of one read in any order
constexpr uint64_t kSparsest = 8;             // times what was read of a run may lie in it
constexpr uint64_t kUnprovenBytes = 16 << 20;
constexpr double kUnusedShare = 0.7;  // of the bytes that were used
constexpr uint32_t kFileTrial = 8;    // guesses before a file is judged
constexpr uint64_t kLayerTrial = 64;
constexpr double kLeastSuccess = 0.15;
constexpr size_t kMostReadings = 256;

bool Fails(uint64_t guessed, uint64_t used, uint64_t trial) {
  return guessed >= trial && static_cast<double>(used) < kLeastSuccess * static_cast<double>(guessed);
}

}  // namespace

ReadAhead::ReadAhead(std::shared_ptr<const LayerTable> table, const ReadAheadOptions& options)
    : table_(std::move(table)), options_(options), used_spans_(table_->span_count()) {}

std::vector<SpanId> ReadAhead::OnRead(InodeId file, const UncompressedRange& content, const UncompressedRange& wanted,
                                      bool missed) {
  std::vector<SpanId> spans;
  if (wanted.begin >= wanted.end) return spans;
  const SpanId last = table_->SpanAt(wanted.end - 1);
  MutexLock lock(mutex_);
  bool proved = false;
  for (SpanId span = table_->SpanAt(wanted.begin); span <= last; span = Next(span)) proved |= NoteUse(span);
  Reading& reading = ReadingOf(file);
  // A guess that was right is as good as a miss: what follows is likely as well.
  if (missed || proved) GuessNeighbours(reading, file, last, spans);
  FollowRun(reading, content, wanted, spans);
  return spans;
}

// Whether the span had been guessed.
bool ReadAhead::NoteUse(SpanId span) {
  const size_t index = soci::ToIndex(span);
  if (used_spans_[index]) return false;
  used_spans_[index] = true;
  const uint64_t bytes = table_->Extent(span).compressed.size();
  used_bytes_ += bytes;
  const auto guess = open_guesses_.find(span);
  if (guess == open_guesses_.end()) return false;
  unused_bytes_ -= bytes;
  ++proved_;
  if (const auto reading = readings_.find(guess->second); reading != readings_.end()) ++reading->second.used;
  open_guesses_.erase(guess);
  return true;
}

void ReadAhead::GuessNeighbours(Reading& reading, InodeId file, SpanId last, std::vector<SpanId>& spans) {
  reading.hopeless = reading.hopeless || Fails(reading.guessed, reading.used, kFileTrial);
  if (reading.hopeless || Fails(guessed_, proved_, kLayerTrial)) return;
  SpanId span = Next(last);
  for (uint32_t i = 0; i < options_.neighbours && soci::ToIndex(span) < table_->span_count(); ++i, span = Next(span)) {
    if (used_spans_[soci::ToIndex(span)] || open_guesses_.count(span) != 0) continue;
    const uint64_t bytes = table_->Extent(span).compressed.size();
    const double bound = kUnusedShare * static_cast<double>(used_bytes_) + static_cast<double>(kUnprovenBytes);
    if (static_cast<double>(unused_bytes_ + bytes) > bound) return;
    unused_bytes_ += bytes;
    open_guesses_.emplace(span, file);
    ++reading.guessed;
    ++guessed_;
    spans.push_back(span);
  }
}

// The window is as long as what was read in order, so it doubles, and is gone after a seek.
void ReadAhead::FollowRun(Reading& reading, const UncompressedRange& content, const UncompressedRange& wanted,
                          std::vector<SpanId>& spans) {
  const bool follows = wanted.begin <= reading.run_end + kReorder && wanted.end + kReorder >= reading.run_end;
  if (reading.run_end == 0 || !follows) {
    reading.run_begin = wanted.begin;
    reading.run_bytes = wanted.size();
    reading.run_end = reading.asked_to = wanted.end;
    return;
  }
  reading.run_end = std::max(reading.run_end, wanted.end);
  reading.run_bytes += wanted.size();
  reading.asked_to = std::max(reading.asked_to, reading.run_end);
  // Two pages a megabyte apart are no run.
  const uint64_t run = std::min(reading.run_end - reading.run_begin, kSparsest * reading.run_bytes);
  if (run < kShortestRun) return;
  const uint64_t ahead_to = std::min(content.end, reading.run_end + std::min(run, options_.window));
  if (ahead_to <= reading.asked_to) return;
  const SpanId last = table_->SpanAt(ahead_to - 1);
  for (SpanId span = Next(table_->SpanAt(reading.asked_to - 1)); span <= last; span = Next(span)) {
    if (!used_spans_[soci::ToIndex(span)]) spans.push_back(span);
  }
  reading.asked_to = ahead_to;
}

ReadAhead::Reading& ReadAhead::ReadingOf(InodeId file) {
  if (readings_.size() >= kMostReadings && readings_.count(file) == 0) readings_.erase(readings_.begin());
  return readings_[file];
}

}  // namespace soci
