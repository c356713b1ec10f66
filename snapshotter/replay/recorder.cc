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
  Run(StartingContainer container, const ProgramClock& clock, size_t most_notes)
      : container_(std::move(container)), clock_(clock), most_notes_(most_notes), began_(clock.Now()), last_(began_) {}

  const StartingContainer& container() const { return container_; }
  bool Has(const oci::LayerDigest& layer) const {
    return std::find(container_.layers.begin(), container_.layers.end(), layer) != container_.layers.end();
  }

  // One thread at a time watches and leaves.
  void Watch(const WatchedLayer& layer) {
    if (!Has(layer.layer) || layer.reads == nullptr || watched_.count(layer.layer) > 0) return;
    auto listener = std::make_unique<Listener>(*this, layer);
    if (layer.reads->Add(*listener)) watched_.emplace(layer.layer, std::move(listener));
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

  // After LeaveAll.
  Record MakeRecord();

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

Record Recorder::Run::MakeRecord() {
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
  MutexLock lock(mutex_);
  if (runs_.size() >= options_.most_runs || runs_.count(container.manifest) > 0) return;
  auto run = std::make_shared<Run>(container, clock_, options_.most_notes);
  for (const WatchedLayer& layer : open) run->Watch(layer);
  runs_.emplace(container.manifest, std::move(run));
}

void Recorder::LayerOpened(const WatchedLayer& layer) {
  MutexLock lock(mutex_);
  for (const auto& [manifest, run] : runs_) run->Watch(layer);
}

void Recorder::LayerClosing(const oci::LayerDigest& layer) {
  MutexLock lock(mutex_);
  for (const auto& [manifest, run] : runs_) run->Leave(layer);
}

bool Recorder::IsOver(const Run& run) const {
  const Run::Progress progress = run.progress();
  if (!progress.read_anything) return progress.since_last >= options_.idle;
  return progress.full || progress.bytes >= options_.most_bytes || progress.since_last >= options_.quiet;
}

void Recorder::Tick() {
  std::vector<std::shared_ptr<Run>> over;
  {
    MutexLock lock(mutex_);
    for (auto run = runs_.begin(); run != runs_.end();) {
      if (!IsOver(*run->second)) {
        ++run;
        continue;
      }
      run->second->LeaveAll();
      over.push_back(std::move(run->second));
      run = runs_.erase(run);
    }
  }
  for (const std::shared_ptr<Run>& run : over) End(run);
}

size_t Recorder::Finish(const std::optional<oci::Digest>& manifest) {
  std::vector<std::shared_ptr<Run>> over;
  {
    MutexLock lock(mutex_);
    for (auto run = runs_.begin(); run != runs_.end();) {
      if (manifest && run->first != *manifest) {
        ++run;
        continue;
      }
      run->second->LeaveAll();
      over.push_back(std::move(run->second));
      run = runs_.erase(run);
    }
  }
  for (const std::shared_ptr<Run>& run : over) End(run);
  return over.size();
}

void Recorder::End(const std::shared_ptr<Run>& run) {
  const Record record = run->MakeRecord();
  if (!record.extents.empty()) done_(run->container().image, record);
}

bool Recorder::IsRecording(const oci::Digest& manifest) const {
  MutexLock lock(mutex_);
  return runs_.count(manifest) > 0;
}

bool Recorder::idle() const {
  MutexLock lock(mutex_);
  return runs_.empty();
}

}  // namespace soci
