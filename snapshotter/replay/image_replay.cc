#include "snapshotter/replay/image_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuse/fetch/fetch_policy.h"
#include "fuse/fetch/layer_fetcher.h"
#include "fuse/store/backing_store.h"
#include "indexer/base/log.h"

namespace soci {
namespace {

// Fewer waits than these say little about what a wait costs.
constexpr uint64_t kEnoughWaits = 4;

std::vector<uint64_t> CountExtents(const Record& record) {
  std::vector<uint64_t> counts(record.layers.size());
  for (const RecordedExtent& extent : record.extents) ++counts[record.files[extent.file].layer];
  return counts;
}

}  // namespace

// A layer that takes part. Its parts are used only inside the gate; Leave closes it.
class ImageReplay::Member : public FirstReads::Listener {
 public:
  Member(ImageReplay& replay, uint32_t layer, const WatchedLayer& parts, uint64_t unknown_extents)
      : replay_(replay), layer_(layer), parts_(parts), unknown_extents_(unknown_extents) {}

  void OnFirstRead(const FirstReads::Part& part) override { replay_.OnNeeded(*this, part); }

  uint32_t layer() const { return layer_; }
  const WatchedLayer& parts() const { return parts_; }
  const LayerTable& table() const { return *parts_.table; }
  uint64_t unknown_extents() const { return unknown_extents_; }
  uint64_t CompressedSize(SpanId span) const { return table().Extent(span).compressed.size(); }
  OpenGate& gate() { return gate_; }

  void Listen() {
    if (parts_.reads == nullptr) return;
    listens_ = true;
    parts_.reads->Add(*this);
  }
  void Close() {
    gate_.Close();
    if (std::exchange(listens_, false)) parts_.reads->Remove(*this);
  }

 private:
  ImageReplay& replay_;
  const uint32_t layer_;
  const WatchedLayer parts_;
  const uint64_t unknown_extents_;
  bool listens_ = false;
  OpenGate gate_;
};

ImageReplay::ImageReplay(std::string image, Record record, const Clock& clock, const ProgramClock& program,
                         Options options)
    : image_(std::move(image)),
      record_(std::move(record)),
      clock_(clock),
      program_(program),
      options_(options),
      extents_of_(CountExtents(record_)) {}

ImageReplay::~ImageReplay() = default;

void ImageReplay::Join(const WatchedLayer& parts) {
  const auto place = std::find(record_.layers.begin(), record_.layers.end(), parts.layer);
  if (place == record_.layers.end()) return;
  const auto layer = static_cast<uint32_t>(place - record_.layers.begin());
  const ReplayPlan plan = PlanReplay(record_, layer, *parts.table, options_.plan);
  auto member = std::make_shared<Member>(*this, layer, parts, plan.unknown_extents);
  {
    MutexLock lock(mutex_);
    if (!members_.emplace(layer, member).second) return;
    cursor_.Add(plan.steps);
  }
  if (plan.unknown_extents > 0) {
    log::Warning("replaying {}: {} extents of the record are of files that layer {} does not have", image_,
                 plan.unknown_extents, parts.layer.ToString());
  }
  member->Listen();
  Pump();
}

void ImageReplay::Leave(const oci::LayerDigest& layer) {
  std::shared_ptr<Member> gone;
  {
    MutexLock lock(mutex_);
    for (auto member = members_.begin(); member != members_.end(); ++member) {
      if (member->second->parts().layer != layer) continue;
      gone = std::move(member->second);
      cursor_.Drop(gone->layer());
      members_.erase(member);
      break;
    }
    if (gone == nullptr) return;
    Judge();
  }
  gone->Close();
}

void ImageReplay::Stop(const std::string& reason) {
  MutexLock lock(mutex_);
  if (state_ == State::kRunning) End(State::kStopped, reason);
}

bool ImageReplay::ended() const {
  MutexLock lock(mutex_);
  return state_ != State::kRunning;
}

bool ImageReplay::has_layers() const {
  MutexLock lock(mutex_);
  return !members_.empty();
}

// One thread at a time asks; who comes meanwhile, perhaps from within an answer, leaves word.
void ImageReplay::Pump() {
  {
    MutexLock lock(mutex_);
    again_ = true;
    if (pumping_) return;
    pumping_ = true;
  }
  while (true) {
    std::optional<ReplayCursor::Due> next;
    std::shared_ptr<Member> member;
    {
      MutexLock lock(mutex_);
      if (MayAsk()) next = cursor_.Next();
      if (!next) {
        if (std::exchange(again_, false) && MayAsk()) continue;
        pumping_ = false;
        Judge();
        return;
      }
      member = members_.at(next->step.layer);
    }
    Ask(member, *next);
  }
}

bool ImageReplay::MayAsk() const {
  const std::optional<int64_t> next = cursor_.NextDue();
  if (state_ != State::kRunning || !next) return false;
  uint64_t before = 0;
  for (auto step = under_way_.begin(); step != under_way_.end() && step->first <= *next; ++step) before += step->second;
  return before < options_.window;
}

void ImageReplay::Ask(const std::shared_ptr<Member>& member, const ReplayCursor::Due& next) {
  const ReplayStep& step = next.step;
  const OpenGate::Pass pass(member->gate());
  if (!pass) return;  // it has gone, and its steps with it
  std::vector<SpanId> wanted;
  std::vector<SpanId> local;
  for (uint32_t i = 0; i < step.count; ++i) {
    const SpanId span{ToIndex(step.first) + i};
    (member->parts().store->IsPresent(span) ? local : wanted).push_back(span);
  }
  {
    MutexLock lock(mutex_);
    for (SpanId span : local) cursor_.IsLocal(step.layer, span);
    for (SpanId span : wanted) under_way_[next.due] += member->CompressedSize(span);
  }
  if (wanted.empty()) return;
  const auto answered = [self = shared_from_this(), member, due = next.due, asked = clock_.Now()](
                            SpanId span, const Status& status) { self->OnAnswer(member, due, span, status, asked); };
  member->parts().fetcher->Replay(wanted, next.due, answered);
}

void ImageReplay::OnAnswer(const std::shared_ptr<Member>& member, int64_t due, SpanId span, const Status& status,
                           Clock::TimePoint asked) {
  {
    MutexLock lock(mutex_);
    const uint64_t size = member->CompressedSize(span);
    const auto under_way = under_way_.find(due);
    if (under_way != under_way_.end() && (under_way->second -= size) == 0) under_way_.erase(under_way);
    const auto joined = members_.find(member->layer());
    if (joined == members_.end() || joined->second != member) {
      // It has left, and may have come again since.
    } else if (status.ok()) {
      bytes_ += size;
      fastest_ = std::min<std::chrono::nanoseconds>(fastest_, clock_.Now() - asked);
      cursor_.Came(member->layer(), span);
    } else if (absl::IsAlreadyExists(status)) {
      cursor_.Came(member->layer(), span);  // somebody else was quicker
    } else if (IsWorthRetrying(status)) {
      cursor_.Failed(member->layer(), span);
    } else {
      cursor_.GiveUp(member->layer(), span);
    }
  }
  Pump();
}

void ImageReplay::OnNeeded(const Member& member, const FirstReads::Part& part) {
  MutexLock lock(mutex_);
  const ReplayCounts before = cursor_.counts();
  const SpanId last = member.table().SpanAt(part.content.end - 1);
  for (SpanId span = member.table().SpanAt(part.content.begin); span <= last; span = Next(span)) {
    cursor_.Needed(member.layer(), span, part.missed);
  }
  // A read that needs several spans waits once for all of them; one that waits for a single of them waits all the same.
  if (!part.missed && cursor_.counts().hits > before.hits) ++waits_avoided_;
  Judge();
}

void ImageReplay::Judge() {
  if (state_ != State::kRunning) return;
  const ReplayCounts& counts = cursor_.counts();
  switch (cursor_.Judge()) {
    case ReplayCursor::Verdict::kGoOn:
      return;
    case ReplayCursor::Verdict::kDone:
      // Layers may still be on their way, or be nobody's business: containerd's, or not lazy.
      if (members_.size() == record_.layers.size()) End(State::kDone, "");
      return;
    case ReplayCursor::Verdict::kOvertaken:
      return End(State::kOvertaken, "the program is past the end of the record");
    case ReplayCursor::Verdict::kWrong:
      return End(State::kWrong, fmt::format("the program needed {} spans that are not in the record, and {} that are",
                                            counts.unexpected, counts.hits + counts.late + counts.misses));
  }
}

void ImageReplay::End(State state, const std::string& reason) {
  state_ = state;
  reason_ = reason;
  const ReplayCounts& counts = cursor_.counts();
  const std::string figures = fmt::format("{} of {} spans came, {} were local, {:.1f} MiB", counts.came, counts.spans,
                                          counts.local, static_cast<double>(bytes_) / (1 << 20));
  if (state == State::kDone) {
    log::Info("replaying {} is done: {}", image_, figures);
  } else {
    log::Info("replaying {} stops: {}; {}", image_, reason, figures);
  }
}

ReplayReport ImageReplay::Report() const {
  const ProgramClock::Waits waits = program_.waits();
  MutexLock lock(mutex_);
  static constexpr const char* kStates[] = {"running", "done", "overtaken", "wrong", "stopped"};
  ReplayReport report;
  report.image = image_;
  report.manifest = record_.manifest;
  const bool came_all = cursor_.counts().spans > 0 && cursor_.Judge() == ReplayCursor::Verdict::kDone;
  report.state = kStates[static_cast<size_t>(state_ == State::kRunning && came_all ? State::kDone : state_)];
  report.reason = reason_;
  report.extents = record_.extents.size();
  for (uint32_t layer = 0; layer < extents_of_.size(); ++layer) {
    const auto member = members_.find(layer);
    if (member == members_.end()) report.unused_extents += extents_of_[layer];
    if (member != members_.end()) report.unknown_extents += member->second->unknown_extents();
  }
  report.bytes = bytes_;
  report.counts = cursor_.counts();
  std::chrono::nanoseconds wait(0);
  if (waits.count >= kEnoughWaits) {
    wait = waits.time / waits.count;
  } else if (bytes_ > 0) {
    wait = fastest_;
  }
  report.time_won = std::chrono::duration_cast<std::chrono::milliseconds>(wait * waits_avoided_);
  return report;
}

}  // namespace soci
