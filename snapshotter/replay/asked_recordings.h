// Recordings that somebody asked for by `soci-snapshotter record`: each has a name, and limits of its own.
//
// Asked for first; begun when the container's root is made; over when the recorder says so; gone once it is taken. Only
// a few are remembered, as whoever asked may have died. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "indexer/record/record.h"
#include "snapshotter/replay/recorder.h"
#include "snapshotter/replay/watched_layer.h"

namespace soci {

struct AskedRecording {
  std::string image;  // for people
  oci::Digest manifest;
  std::chrono::milliseconds quiet{20'000};
  uint64_t most_bytes = uint64_t{4} << 30;
};

struct RecordingProgress {
  enum class State { kAsked, kRunning, kOver };
  State state = State::kAsked;
  std::vector<oci::LayerDigest> layers = {};  // that are watched
  RunEnd end = RunEnd::kTold;                 // once it is over
};

class AskedRecordings {
 public:
  explicit AskedRecordings(Recorder& recorder) : recorder_(recorder) {}

  // The name it goes by from now on, hard to guess.
  std::string Ask(AskedRecording wanted);
  // To be called before Begin, once: its container is about to start. kNotFound if no such recording was asked for,
  // kFailedPrecondition if it has a container already.
  Status Claim(const std::string& name);
  Status Begin(const std::string& name, const std::vector<oci::LayerDigest>& layers,
               const std::vector<WatchedLayer>& open);
  Result<RecordingProgress> ProgressOf(const std::string& name) const;
  // Nothing of its layers is used any more when it returns. One that is not there is fine.
  void Finish(const std::string& name) { recorder_.FinishAsked(name); }
  // Ends and forgets it. kFailedPrecondition if no container was started, or if it read nothing.
  struct Taken {
    std::string image;
    Record record;
  };
  Result<Taken> Take(const std::string& name);

 private:
  struct Entry {
    AskedRecording wanted;
    RecordingProgress progress;
    uint64_t number = 0;  // in the order of asking
    Record record;
  };

  void OnOver(const std::string& name, const Record& record, RunEnd end);

  Recorder& recorder_;
  mutable Mutex mutex_;  // a leaf
  uint64_t asked_ SOCI_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Entry> entries_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
