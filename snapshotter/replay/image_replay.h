// Replays the record of one image: asks the fetchers of its layers for what comes next, a bounded number of bytes ahead
// of what has come, while the program runs or before it starts.
//
// Layers join when they are there and leave when they go. Any thread; nothing waits but Leave, for call-backs under
// way. Shared by its owner and the fetches it waits for.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fuse/layer/first_reads.h"
#include "fuse/layer/open_gate.h"
#include "fuse/layer/program_clock.h"
#include "indexer/base/clock.h"
#include "indexer/base/mutex.h"
#include "indexer/record/record.h"
#include "snapshotter/replay/replay_cursor.h"
#include "snapshotter/replay/replay_report.h"
#include "snapshotter/replay/watched_layer.h"

namespace soci {

class ImageReplay : public std::enable_shared_from_this<ImageReplay> {
 public:
  struct Options {
    // Compressed bytes under way of what is needed before the next step: more than any link holds, little of what is to
    // come. A layer that comes later so asks for its first needs however much the others wait for.
    uint64_t window = 48 << 20;
    ReplayPlanOptions plan;
  };

  // Borrows the clocks. `image` is for the log.
  ImageReplay(std::string image, Record record, const Clock& clock, const ProgramClock& program, Options options);
  ~ImageReplay();

  const Record& record() const { return record_; }

  // Plans the layer, if the record has it, and goes on.
  void Join(const WatchedLayer& layer);
  void Leave(const oci::LayerDigest& layer);
  // Asks for nothing more; what is under way still comes.
  void Stop(const std::string& reason);

  // Nothing more will be asked for.
  bool ended() const;
  bool has_layers() const;
  ReplayReport Report() const;

 private:
  class Member;
  enum class State { kRunning, kDone, kOvertaken, kWrong, kStopped };

  void Pump();
  void Ask(const std::shared_ptr<Member>& member, const ReplayCursor::Due& next);
  void OnAnswer(const std::shared_ptr<Member>& member, int64_t due, SpanId span, const Status& status,
                Clock::TimePoint asked);
  void OnNeeded(const Member& member, const FirstReads::Part& part);
  bool MayAsk() const SOCI_REQUIRES(mutex_);
  void Judge() SOCI_REQUIRES(mutex_);
  void End(State state, const std::string& reason) SOCI_REQUIRES(mutex_);

  const std::string image_;
  const Record record_;
  const Clock& clock_;
  const ProgramClock& program_;
  const Options options_;
  const std::vector<uint64_t> extents_of_;  // how many are of each layer

  mutable Mutex mutex_;  // a leaf: taken on the path of a first read
  ReplayCursor cursor_ SOCI_GUARDED_BY(mutex_);
  std::map<uint32_t, std::shared_ptr<Member>> members_ SOCI_GUARDED_BY(mutex_);
  State state_ SOCI_GUARDED_BY(mutex_) = State::kRunning;
  std::string reason_ SOCI_GUARDED_BY(mutex_);
  bool pumping_ SOCI_GUARDED_BY(mutex_) = false;
  bool again_ SOCI_GUARDED_BY(mutex_) = false;
  std::map<int64_t, uint64_t> under_way_ SOCI_GUARDED_BY(mutex_);  // compressed bytes, by the place of their step
  uint64_t bytes_ SOCI_GUARDED_BY(mutex_) = 0;                     // that came
  uint64_t waits_avoided_ SOCI_GUARDED_BY(mutex_) = 0;             // reads that found what the replay had brought
  std::chrono::nanoseconds fastest_ SOCI_GUARDED_BY(mutex_) = std::chrono::nanoseconds::max();
};

}  // namespace soci
