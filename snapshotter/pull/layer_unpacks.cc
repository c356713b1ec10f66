#include "snapshotter/pull/layer_unpacks.h"

#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <stop_token>
#include <utility>

#include "indexer/base/file_io.h"
#include "indexer/base/log.h"
#include "indexer/registry/registry_client.h"
#include "snapshotter/pull/layer_sync.h"
#include "snapshotter/pull/list_folder.h"
#include "snapshotter/unpack/unpack_layer.h"
#include "snapshotter/unpack/unsynced_mark.h"

namespace soci {

struct LayerUnpacks::Job {
  oci::LayerDigest layer;
  LayerOrigin origin;
  bool lowest = false;
  uint64_t number = 0;
  std::stop_source stop;
  std::atomic<uint64_t> read = 0;
  size_t wishes = 0;                       // under the mutex of the unpacks
  bool counted = false;                    // under it too
  std::optional<Result<Unpacked>> result;  // under it too
};

LayerUnpacks::LayerUnpacks(RegistryClient& registry, LayerFolders& folders, LayerSync& sync, const Options& options,
                           FetchScheduler* scheduler)
    : registry_(registry),
      folders_(folders),
      sync_(sync),
      budget_(options.budget),
      window_(options.window, scheduler),
      pool_("unpack", options.parallel) {
  folders_.DiscardUnpacking();
  for (const std::string& name : ListFolder(folders_.paths().LayersFolder())) {
    const std::string folder = folders_.paths().LayersFolder() + "/" + name;
    if (ReadUnsyncedMark(folder) != UnsyncedMark::kOfThisBoot) continue;
    sync_.Later([folder] {
      if (Status unmarked = UnmarkSynced(folder); !unmarked.ok()) log::Debug("{}", Message(unmarked));
    });
  }
}

LayerUnpacks::~LayerUnpacks() { Stop(); }

void LayerUnpacks::Stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  for (const auto& [layer, weak] : jobs_) {
    auto job = weak.lock();
    if (job == nullptr) continue;
    job->stop.request_stop();
    // Nobody will run it any more, once the pool is gone.
    if (!job->result && job->read == 0) job->result = absl::CancelledError("the daemon is stopping");
  }
  ended_.NotifyAll();
}

LayerUnpacks::Wish::~Wish() {
  MutexLock lock(unpacks_.mutex_);
  if (--job_->wishes == 0) job_->stop.request_stop();
}

Result<LayerUnpacks::Unpacked> LayerUnpacks::Wish::Wait(const std::stop_token& stop) const {
  const std::stop_callback stopped(stop, [this] {
    MutexLock lock(unpacks_.mutex_);
    unpacks_.ended_.NotifyAll();
  });
  MutexLock lock(unpacks_.mutex_);
  while (!job_->result && !stop.stop_requested()) unpacks_.ended_.Wait(unpacks_.mutex_);
  if (!job_->result) return absl::CancelledError("nobody waits for it any more");
  return *job_->result;
}

std::shared_ptr<const LayerUnpacks::Wish> LayerUnpacks::Start(const oci::LayerDigest& layer, const LayerOrigin& wanted,
                                                              bool lowest) {
  std::shared_ptr<Job> job;
  std::shared_ptr<Job> before;  // let go after the lock
  bool is_new = false;
  {
    MutexLock lock(mutex_);
    job = before = jobs_[layer].lock();
    // One that nobody wanted any more, that is of another image's word, or that failed, is no longer joined.
    if (job == nullptr || job->wishes == 0 || job->origin.diff_id != wanted.diff_id || job->lowest != lowest ||
        (job->result && !job->result->ok())) {
      job = std::make_shared<Job>();
      job->layer = layer;
      job->origin = wanted;
      job->lowest = lowest;
      job->number = ++started_;
      jobs_[layer] = job;
      is_new = true;
      if (stopping_) job->result = absl::CancelledError("the daemon is stopping");
    }
    ++job->wishes;
  }
  auto wish = std::make_shared<const Wish>(*this, job);
  if (is_new) pool_.Post([this, job] { Run(job); });
  return wish;
}

void LayerUnpacks::Run(const std::shared_ptr<Job>& job) {
  auto unpacked =
      job->stop.stop_requested() ? Result<Unpacked>(absl::CancelledError("nobody wants it any more")) : Unpack(*job);
  if (unpacked.ok()) {
    log::Info("layer {} of {} is unpacked", job->layer.ToString(), job->origin.image.ToString());
    sync_.Later([hold = unpacked->hold, folder = folders_.paths().LayerFolder(job->layer)] {
      if (Status unmarked = UnmarkSynced(folder); !unmarked.ok()) log::Warning("{}", Message(unmarked));
    });
  }
  std::shared_ptr<const LayerFolders::Hold> unwanted;  // goes after the lock
  MutexLock lock(mutex_);
  counts_.bytes += job->read;
  job->counted = true;
  ++(unpacked.ok() ? counts_.done : absl::IsCancelled(unpacked.status()) ? counts_.cancelled : counts_.failed);
  if (unpacked.ok() && job->wishes == 0) unwanted = unpacked->hold;
  if (!job->result) job->result = std::move(unpacked);
  ended_.NotifyAll();
}

Result<LayerUnpacks::Unpacked> LayerUnpacks::Unpack(Job& job) {
  const std::string beside = fmt::format("{}/{}-{}", folders_.UnpackingFolder(), job.layer.Hex(), job.number);
  const auto unpack = [&]() -> Result<Unpacked> {
    SOCI_RETURN_IF_ERROR(MakeDirectories(beside, 0700));
    SOCI_ASSIGN_OR_RETURN(auto blob, registry_.OpenBlob(job.origin.image, job.origin.LayerDescriptor(job.layer)));
    FetchContext context;
    context.fetch_class = FetchClass::kFill;
    context.budget = budget_;
    context.stop = job.stop.get_token();
    const LayerToUnpack wanted{job.layer, job.origin.diff_id, job.lowest, job.origin.image.host,
                               [&](uint64_t read) { job.read = read; }};
    SOCI_ASSIGN_OR_RETURN(const UnpackedLayer unpacked, UnpackLayer(*blob, wanted, beside, window_, context));
    LayerOrigin origin = job.origin;
    origin.ztoc = unpacked.ztoc;
    origin.unpacked = true;
    origin.number = folders_.numbers().Take(job.layer);
    SOCI_RETURN_IF_ERROR(WriteOrigin(beside, origin));
    SOCI_ASSIGN_OR_RETURN(auto hold, folders_.TakeOver(job.layer, beside));
    return Unpacked{origin, std::move(hold)};
  };
  auto unpacked = unpack();
  if (!unpacked.ok()) {
    if (Status removed = RemoveTree(beside); !removed.ok()) log::Warning("deleting {}: {}", beside, Message(removed));
    return Annotate(unpacked.status(), "unpacking");
  }
  return unpacked;
}

LayerUnpacks::Counts LayerUnpacks::counts() const {
  std::vector<std::shared_ptr<Job>> seen;  // as below
  MutexLock lock(mutex_);
  Counts counts = counts_;
  for (const auto& [layer, weak] : jobs_) {
    seen.push_back(weak.lock());
    if (seen.back() != nullptr && !seen.back()->counted) counts.bytes += seen.back()->read;
  }
  return counts;
}

std::vector<LayerReport> LayerUnpacks::Report() const {
  std::vector<LayerReport> reports;
  std::vector<std::shared_ptr<Job>> seen;  // the last to know a job must not let it go under the lock
  MutexLock lock(mutex_);
  for (const auto& [layer, weak] : jobs_) {
    const auto job = weak.lock();
    seen.push_back(job);
    if (job == nullptr || job->result || job->wishes == 0) continue;
    LayerReport report;
    report.layer = layer;
    report.image = job->origin.image.ToString();
    report.manifest = job->origin.manifest;
    report.state = LayerState::kUnpacking;
    report.layer_size = job->origin.layer_size;
    report.bytes_read = job->read;
    report.unpacked = true;
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace soci
