#include "snapshotter/replay/asked_recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

namespace soci {
namespace {

constexpr size_t kMostRemembered = 16;

Status NoSuch(const std::string& name) {
  return absl::NotFoundError(fmt::format("no recording {} was asked for, or the daemon was started since", name));
}

}  // namespace

std::string AskedRecordings::Ask(AskedRecording wanted) {
  std::random_device random;
  std::string name = fmt::format("{:08x}{:08x}", random(), random());
  std::optional<std::string> forgotten;
  {
    MutexLock lock(mutex_);
    if (entries_.size() >= kMostRemembered) {
      forgotten = std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
                    return a.second.number < b.second.number;
                  })->first;
    }
    Entry entry;
    entry.wanted = std::move(wanted);
    entry.number = ++asked_;
    entries_.emplace(name, std::move(entry));
  }
  if (forgotten) {
    Finish(*forgotten);
    MutexLock lock(mutex_);
    entries_.erase(*forgotten);
  }
  return name;
}

Status AskedRecordings::Claim(const std::string& name) {
  MutexLock lock(mutex_);
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) return NoSuch(name);
  if (entry->second.progress.state != RecordingProgress::State::kAsked) {
    return absl::FailedPreconditionError(fmt::format("recording {} has a container already", name));
  }
  entry->second.progress.state = RecordingProgress::State::kRunning;
  return OkStatus();
}

Status AskedRecordings::Begin(const std::string& name, const std::vector<oci::LayerDigest>& layers,
                              const std::vector<WatchedLayer>& open) {
  StartingContainer container;
  AskedRun run;
  {
    MutexLock lock(mutex_);
    const auto entry = entries_.find(name);
    if (entry == entries_.end()) return NoSuch(name);
    for (const WatchedLayer& layer : open) entry->second.progress.layers.push_back(layer.layer);
    container = {entry->second.wanted.image, entry->second.wanted.manifest, layers};
    run = {name, entry->second.wanted.quiet, entry->second.wanted.most_bytes,
           [this, name](const Record& record, RunEnd end) { OnOver(name, record, end); }};
  }
  recorder_.StartAsked(container, std::move(run), open);
  return OkStatus();
}

void AskedRecordings::OnOver(const std::string& name, const Record& record, RunEnd end) {
  MutexLock lock(mutex_);
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) return;
  entry->second.progress.state = RecordingProgress::State::kOver;
  entry->second.progress.end = end;
  entry->second.record = record;
}

Result<RecordingProgress> AskedRecordings::ProgressOf(const std::string& name) const {
  MutexLock lock(mutex_);
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) return NoSuch(name);
  return entry->second.progress;
}

Result<AskedRecordings::Taken> AskedRecordings::Take(const std::string& name) {
  Finish(name);
  MutexLock lock(mutex_);
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) return NoSuch(name);
  const Entry taken = std::move(entry->second);
  entries_.erase(entry);
  if (taken.progress.state == RecordingProgress::State::kAsked) {
    return absl::FailedPreconditionError("no container was started for it");
  }
  if (taken.record.extents.empty()) {
    return absl::FailedPreconditionError("the container read nothing of the layers that are watched");
  }
  return Taken{taken.wanted.image, taken.record};
}

}  // namespace soci
