#include "snapshotter/replay/image_records.h"

#include <fmt/format.h>
#include <pthread.h>

#include <utility>

#include "indexer/base/log.h"

namespace soci {
namespace {

constexpr auto kTick = std::chrono::milliseconds(200);
constexpr size_t kMostUnused = 256;  // images of which no layer takes part: what was found out is still told

void Add(const ReplayReport& report, ImageRecords::Totals& totals) {
  ++totals.replays_started;
  totals.replays_wrong += report.state == "wrong" ? 1 : 0;
  totals.bytes += report.bytes;
  totals.hits += report.counts.hits;
  totals.late += report.counts.late;
  totals.misses += report.counts.misses;
}

}  // namespace

ImageRecords::ImageRecords(const std::string& folder, const Clock& clock, ProgramClock& program, Options options)
    : clock_(clock),
      program_(program),
      options_(std::move(options)),
      store_(folder),
      asked_(recorder_),
      recorder_(program, options_.recorder,
                [this](const std::string& image, const Record& record) { Keep(image, record); }) {
  timer_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "recording");
    RunTimer();
  });
}

ImageRecords::~ImageRecords() {
  Stop();
  timer_.join();
}

void ImageRecords::Stop() {
  stop_.request_stop();
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
    for (const auto& [layer, watched] : layers_) {
      recorder_.LayerClosing(layer);
      for (const auto& [manifest, image] : images_) {
        if (image.replay != nullptr) image.replay->Leave(layer);
      }
    }
    layers_.clear();
    for (const auto& [manifest, image] : images_) {
      if (image.replay != nullptr) image.replay->Stop("the daemon stops");
    }
  }
  recorder_.Finish(std::nullopt);
}

void ImageRecords::Want(const oci::Reference& image, const oci::Digest& manifest) {
  MutexLock lock(mutex_);
  if (stopping_ || !options_.replay) return;
  const Clock::TimePoint now = clock_.Now();
  DropUnused(now);
  const auto [place, is_new] = images_.try_emplace(manifest);
  Image& known = place->second;
  if (!is_new) {
    const bool in_use = known.replay != nullptr && (known.replay->has_layers() || !known.replay->ended());
    if (known.looking || in_use || (known.replay == nullptr && now - known.looked < options_.remember_no)) return;
    Retire(known);
  }
  known.looking = true;
  known.name = image.ToString();
  pool_.Post([this, image, manifest] { LookUp(image, manifest); });
}

void ImageRecords::DropUnused(Clock::TimePoint now) {
  size_t unused = 0;
  auto oldest = images_.end();
  for (auto entry = images_.begin(); entry != images_.end(); ++entry) {
    Image& image = entry->second;
    if (image.looking || (image.replay != nullptr && image.replay->has_layers())) continue;
    // A pull that was given up, or a record of other layers.
    if (image.replay != nullptr && now - image.looked >= options_.remember_no) {
      Retire(image);
      image.source = RecordSource::kNone;
      image.reason = "no layer came that its record names";
    }
    ++unused;
    if (oldest == images_.end() || image.looked < oldest->second.looked) oldest = entry;
  }
  if (unused <= kMostUnused) return;
  Retire(oldest->second);
  images_.erase(oldest);
}

void ImageRecords::LookUp(const oci::Reference& image, const oci::Digest& manifest) {
  Found found = Find(image, manifest);
  MutexLock lock(mutex_);
  const auto place = images_.find(manifest);
  if (stopping_ || place == images_.end()) return;
  Image& known = place->second;
  known.looking = false;
  known.looked = clock_.Now();
  known.source = found.source;
  known.reason = found.reason;
  if (!found.record) return;
  log::Info("replaying {} by its {} record: {} extents in {} files", known.name, ToString(found.source),
            found.record->extents.size(), found.record->files.size());
  known.replay =
      std::make_shared<ImageReplay>(known.name, *std::move(found.record), clock_, program_, options_.replays);
  for (const auto& [layer, watched] : layers_) known.replay->Join(watched);
}

ImageRecords::Found ImageRecords::Find(const oci::Reference& image, const oci::Digest& manifest) {
  Found found;
  if (options_.trust_own) {
    auto own = store_.Find(manifest);
    if (own.ok() && own->has_value()) return {RecordSource::kOwn, *std::move(own), ""};
    if (!own.ok()) {
      found.reason = std::string(Message(own.status()));
      log::Warning("the record of {} is not replayed: {}", image.ToString(), found.reason);
    }
  }
  if (!options_.find_published) return found;
  auto published = options_.find_published(image, manifest, stop_.get_token());
  if (published.ok() && published->has_value()) return {RecordSource::kPublished, *std::move(published), ""};
  if (!published.ok() && !absl::IsCancelled(published.status())) {
    found.reason = std::string(Message(published.status()));
    log::Warning("the published record of {} is not replayed: {}", image.ToString(), found.reason);
  }
  return found;
}

void ImageRecords::ContainerPrepared(const oci::Reference& image, const StartingContainer& container) {
  Want(image, container.manifest);
  MutexLock lock(mutex_);
  if (stopping_ || !options_.record) return;
  std::vector<WatchedLayer> open;
  for (const oci::LayerDigest& layer : container.layers) {
    const auto found = layers_.find(layer);
    if (found != layers_.end()) open.push_back(found->second);
  }
  recorder_.Start(container, open);
  wake_.NotifyAll();
}

Status ImageRecords::BeginRecording(const std::string& name, const std::vector<oci::LayerDigest>& layers,
                                    const std::vector<WatchedLayer>& open) {
  MutexLock lock(mutex_);
  if (stopping_) return absl::UnavailableError("the daemon is stopping");
  SOCI_RETURN_IF_ERROR(asked_.Begin(name, layers, open));
  wake_.NotifyAll();
  return OkStatus();
}

Result<Record> ImageRecords::TakeRecording(const std::string& name, bool kept) {
  SOCI_ASSIGN_OR_RETURN(AskedRecordings::Taken taken, asked_.Take(name));
  if (kept) Keep(taken.image, taken.record);
  return std::move(taken.record);
}

void ImageRecords::LayerOpened(const WatchedLayer& layer) {
  MutexLock lock(mutex_);
  if (stopping_) return;
  layers_[layer.layer] = layer;
  for (const auto& [manifest, image] : images_) {
    if (image.replay != nullptr) image.replay->Join(layer);
  }
  recorder_.LayerOpened(layer);
}

void ImageRecords::LayerClosing(const oci::LayerDigest& layer) {
  MutexLock lock(mutex_);
  if (layers_.erase(layer) == 0) return;
  recorder_.LayerClosing(layer);
  for (auto image = images_.begin(); image != images_.end();) {
    ImageReplay* replay = image->second.replay.get();
    const bool had_layers = replay != nullptr && replay->has_layers();
    if (had_layers) replay->Leave(layer);
    if (had_layers && !replay->has_layers()) {
      replay->Stop("its layers have gone");
      Retire(image->second);
      image = images_.erase(image);
    } else {
      ++image;
    }
  }
}

void ImageRecords::Retire(Image& image) {
  if (image.replay == nullptr) return;
  Add(image.replay->Report(), ended_);
  image.replay.reset();
}

void ImageRecords::Keep(const std::string& image, const Record& record) {
  const auto kept = store_.Merge(record);
  if (!kept.ok()) return log::Warning("the record of {} is not kept: {}", image, Message(kept.status()));
  log::Info("recorded {}: {} extents of {} files; the record has {} of {} now", image, record.extents.size(),
            record.files.size(), kept->extents.size(), kept->files.size());
  MutexLock lock(mutex_);
  ++ended_.records_made;
  const auto known = images_.find(record.manifest);
  if (known != images_.end() && !known->second.looking && known->second.replay == nullptr) images_.erase(known);
}

void ImageRecords::RunTimer() {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (stopping_) return;
      if (recorder_.idle()) {
        wake_.Wait(mutex_);
        continue;
      }
      wake_.WaitFor(mutex_, kTick);
      if (stopping_) return;
    }
    recorder_.Tick();
  }
}

std::vector<ReplayReport> ImageRecords::Reports() const {
  std::vector<ReplayReport> reports;
  MutexLock lock(mutex_);
  for (const auto& [manifest, image] : images_) {
    ReplayReport report;
    if (image.replay != nullptr) {
      report = image.replay->Report();
    } else {
      report.image = image.name;
      report.manifest = manifest;
      report.state = image.looking ? "looking" : "none";
      report.reason = image.reason;
    }
    report.source = image.source;
    report.recording = recorder_.IsRecording(manifest);
    reports.push_back(std::move(report));
  }
  return reports;
}

ImageRecords::Totals ImageRecords::totals() const {
  MutexLock lock(mutex_);
  Totals totals = ended_;
  for (const auto& [manifest, image] : images_) {
    if (image.replay != nullptr) Add(image.replay->Report(), totals);
  }
  return totals;
}

}  // namespace soci
