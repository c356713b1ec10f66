#include "snapshotter/replay/recorder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "fuse/layer/first_reads.h"
#include "indexer/base/log.h"
#include "indexer/record/record_builder.h"
#include "snapshotter/replay/file_paths.h"

namespace soci {

class Recorder::Run {
 public:
  Run(StartingContainer container, std::optional<AskedRun> asked, const ProgramClock& clock, size_t most_notes)
      : container_(std::move(container)),
        asked_(std::move(asked)),
        clock_(clock),
        most_notes_(most_notes),
        began_(clock.Now()),
        last_(began_) {}

  const StartingContainer& container() const { return container_; }
  const std::optional<AskedRun>& asked() const { return asked_; }
  bool Has(const oci::LayerDigest& layer) const {
    return std::find(container_.layers.begin(), container_.layers.end(), layer) != container_.layers.end();
  }

  // One thread at a time watches and leaves.
  void Watch(const WatchedLayer& layer) {
    if (!Has(layer.layer) || layer.reads == nullptr || watched_.count(layer.layer) > 0) return;
    const auto [place, is_new] = watched_.emplace(layer.layer, std::make_unique<Listener>(*this, layer));
    layer.reads->Add(*place->second);
  }
  void Leave(const oci::LayerDigest& layer) {
    const auto found = watched_.find(layer);
    if (found == watched_.end()) return;
    found->second->Leave();
    left_.push_back(std::move(found->second));
    watched_.erase(found);
  }
  void LeaveAll() {
    while (!watched_.empty()) Leave(watched_.begin()->first);
  }

  struct Progress {
    bool read_anything = false;
    bool full = false;
    uint64_t bytes = 0;
    ProgramClock::Duration since_last{0};
  };
  Progress progress() const {
    MutexLock lock(mutex_);
    return {!notes_.empty(), notes_.size() >= most_notes_, bytes_, clock_.Now() - last_};
  }

  // Of what was noted since the last time. After LeaveAll.
  Record TakeRecord();

 private:
  struct Note {
    const LayerTable* table;
    InodeId file;
    uint64_t offset;
    uint64_t size;
    ProgramClock::Duration at;
  };

  class Listener : public FirstReads::Listener {
   public:
    Listener(Run& run, const WatchedLayer& layer) : run_(run), layer_(layer) {}
    void OnFirstRead(const FirstReads::Part& part) override { run_.Take(*layer_.table, part); }
    void Leave() { layer_.reads->Remove(*this); }
    const WatchedLayer& layer() const { return layer_; }

   private:
    Run& run_;
    const WatchedLayer layer_;
  };

  void Take(const LayerTable& table, const FirstReads::Part& part) {
    const ProgramClock::Duration now = clock_.Now();
    MutexLock lock(mutex_);
    if (notes_.size() >= most_notes_) return;
    notes_.push_back({&table, part.file, part.offset, part.content.size(), now});
    bytes_ += part.content.size();
    last_ = now;
  }

  const StartingContainer container_;
  const std::optional<AskedRun> asked_;
  const ProgramClock& clock_;
  const size_t most_notes_;
  const ProgramClock::Duration began_;
  std::map<oci::LayerDigest, std::unique_ptr<Listener>> watched_;
  std::vector<std::unique_ptr<Listener>> left_;  // keep the tables of their notes

  mutable Mutex mutex_;  // a leaf, on the path of a first read
  std::vector<Note> notes_ SOCI_GUARDED_BY(mutex_);
  uint64_t bytes_ SOCI_GUARDED_BY(mutex_) = 0;
  ProgramClock::Duration last_ SOCI_GUARDED_BY(mutex_);
};

Record Recorder::Run::TakeRecord() {
  std::vector<Note> notes;
  {
    MutexLock lock(mutex_);
    notes.swap(notes_);
  }
  std::stable_sort(notes.begin(), notes.end(), [](const Note& a, const Note& b) { return a.at < b.at; });
  std::map<const LayerTable*, std::set<InodeId>> files;
  for (const Note& note : notes) files[note.table].insert(note.file);
  std::map<const LayerTable*, std::map<InodeId, std::string>> paths;
  for (const auto& [table, inodes] : files) paths[table] = PathsOf(*table, inodes);

  RecordBuilder builder(container_.manifest, container_.layers);
  for (const Note& note : notes) {
    const auto path = paths[note.table].find(note.file);
    const auto attributes = note.table->Attributes(note.file);
    if (path == paths[note.table].end() || !attributes) continue;
    const auto at = std::chrono::duration_cast<std::chrono::microseconds>(note.at - notes.front().at);
    builder.Add(note.table->layer(), path->second, attributes->size, note.offset, note.size,
                static_cast<uint64_t>(at.count()));
  }
  return builder.Build();
}

Recorder::Recorder(const ProgramClock& clock, Options options, Done done)
    : clock_(clock), options_(options), done_(std::move(done)) {}

Recorder::~Recorder() { Finish(std::nullopt); }

void Recorder::Start(const StartingContainer& container, const std::vector<WatchedLayer>& open) {
  const Key key{container.manifest, ""};
  MutexLock lock(mutex_);
  const auto automatic =
      std::count_if(runs_.begin(), runs_.end(), [](const auto& run) { return !run.second->asked(); });
  if (static_cast<size_t>(automatic) >= options_.most_runs || runs_.count(key) > 0) return;
  auto run = std::make_shared<Run>(container, std::nullopt, clock_, options_.most_notes);
  for (const WatchedLayer& layer : open) run->Watch(layer);
  runs_.emplace(key, std::move(run));
}

void Recorder::StartAsked(const StartingContainer& container, AskedRun asked, const std::vector<WatchedLayer>& open) {
  const Key key{container.manifest, asked.name};
  MutexLock lock(mutex_);
  auto run = std::make_shared<Run>(container, std::move(asked), clock_, options_.most_notes);
  for (const WatchedLayer& layer : open) run->Watch(layer);
  runs_.emplace(key, std::move(run));
}

void Recorder::LayerOpened(const WatchedLayer& layer) {
  MutexLock lock(mutex_);
  for (const auto& [key, run] : runs_) {
    if (!run->asked()) run->Watch(layer);
  }
}

void Recorder::LayerClosing(const oci::LayerDigest& layer) {
  MutexLock lock(mutex_);
  for (const auto& [key, run] : runs_) run->Leave(layer);
}

std::optional<RunEnd> Recorder::IsOver(const Run& run) const {
  const Run::Progress progress = run.progress();
  const auto quiet = run.asked() ? run.asked()->quiet : options_.quiet;
  const uint64_t most_bytes = run.asked() ? run.asked()->most_bytes : options_.most_bytes;
  if (!progress.read_anything)
    return progress.since_last >= options_.idle ? std::optional(RunEnd::kIdle) : std::nullopt;
  if (progress.full || progress.bytes >= most_bytes) return RunEnd::kFull;
  return progress.since_last >= quiet ? std::optional(RunEnd::kQuiet) : std::nullopt;
}

size_t Recorder::EndThose(const Choice& choice) {
  std::vector<std::pair<std::shared_ptr<Run>, RunEnd>> over;
  {
    MutexLock lock(mutex_);
    for (auto run = runs_.begin(); run != runs_.end();) {
      const std::optional<RunEnd> end = choice(run->first, *run->second);
      if (!end) {
        ++run;
        continue;
      }
      run->second->LeaveAll();
      over.emplace_back(std::move(run->second), *end);
      run = runs_.erase(run);
    }
  }
  for (const auto& [run, end] : over) End(*run, end);
  return over.size();
}

void Recorder::Tick() {
  EndThose([this](const Key&, const Run& run) { return IsOver(run); });
}

size_t Recorder::Finish(const std::optional<oci::Digest>& manifest) {
  return EndThose([&](const Key& key, const Run&) {
    return !manifest || key.first == *manifest ? std::optional(RunEnd::kTold) : std::nullopt;
  });
}

void Recorder::FinishAsked(const std::string& name) {
  EndThose([&](const Key& key, const Run& run) {
    return run.asked() && key.second == name ? std::optional(RunEnd::kGone) : std::nullopt;
  });
}

void Recorder::End(Run& run, RunEnd end) {
  const Record record = run.TakeRecord();
  if (run.asked()) return run.asked()->over(record, end);
  if (!record.extents.empty()) done_(run.container().image, record);
}

bool Recorder::IsRecording(const oci::Digest& manifest) const {
  MutexLock lock(mutex_);
  const auto first = runs_.lower_bound(Key{manifest, ""});
  return first != runs_.end() && first->first.first == manifest;
}

bool Recorder::idle() const {
  MutexLock lock(mutex_);
  return runs_.empty();
}

}  // namespace soci
