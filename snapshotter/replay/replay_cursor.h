// Where the replay of an image stands: which step is next, what has come, and where the program is. Decisions only.
//
// Steps go out in order of need. If the program needs something that is ahead of the replay, the replay goes on after
// it: what lies between was needed before, or is not needed by this program, and comes last. Guarded by its owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "snapshotter/replay/replay_plan.h"

namespace soci {

struct ReplayCounts {
  uint64_t spans = 0;  // recorded, of layers that are there
  uint64_t local = 0;  // of those, on the disk before they were asked for
  uint64_t came = 0;   // fetched by the replay, or by somebody else while it wanted them
  uint64_t given_up = 0;
  uint64_t hits = 0;        // were there when the program needed them
  uint64_t late = 0;        // were on their way
  uint64_t misses = 0;      // should have been there, and were not even on their way
  uint64_t unexpected = 0;  // the program needed them, and the record does not have them
};

class ReplayCursor {
 public:
  enum class Verdict {
    kGoOn,
    kDone,       // everything was asked for and came
    kOvertaken,  // the program is past the end of the record
    kWrong,      // the program needs other things than the record says
  };

  // A layer that comes again begins anew, as what it had may be lost.
  void Add(const std::vector<ReplayStep>& steps);
  // The layer has gone: its steps are not taken any more, and nothing of it is under way.
  void Drop(uint32_t layer);

  struct Due {
    ReplayStep step;
    // Where it comes among all that were and will be asked for, the lowest first: the step's position; what was passed
    // over comes last; and all of it before what was asked for when the program had not jumped ahead yet.
    int64_t due = 0;
  };
  // The next step to ask for. Its spans are under way until Came, IsLocal or Failed.
  std::optional<Due> Next();
  std::optional<int64_t> NextDue() const;
  void IsLocal(uint32_t layer, SpanId span);
  void Came(uint32_t layer, SpanId span);
  // It is asked for again, but not for ever.
  void Failed(uint32_t layer, SpanId span);
  void GiveUp(uint32_t layer, SpanId span);

  // The program needs this, for the first time; `missed`: it was not on the disk.
  void Needed(uint32_t layer, SpanId span, bool missed);

  Verdict Judge() const;
  const ReplayCounts& counts() const { return counts_; }

 private:
  enum class State { kWaiting, kAsked, kThere, kGivenUp };
  struct Span {
    uint64_t position = 0;
    State state = State::kWaiting;
    bool was_local = false;
    bool needed = false;
    int failures = 0;
  };
  using Key = std::pair<uint32_t, SpanId>;
  using Order = std::pair<uint64_t, Key>;  // one extent may need steps of several spans

  using Waiting = std::map<Order, ReplayStep>;

  Waiting::const_iterator FindNext() const;
  int64_t DueOf(const ReplayStep& step) const;
  Span* Find(uint32_t layer, SpanId span);
  void Forget(Span& span);

  std::map<Key, Span> spans_;
  Waiting waiting_;
  uint64_t asked_ = 0;
  uint64_t place_ = 0;  // steps before it are passed over
  int64_t jumps_ = 0;   // of the program, ahead of the replay
  uint64_t last_position_ = 0;
  uint64_t needed_to_ = 0;  // the furthest position that the program has reached
  std::map<Key, bool> unexpected_;
  ReplayCounts counts_;
};

}  // namespace soci
