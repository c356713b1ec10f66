// Recording and replay as the daemon has them: which images are wanted, which layers are there, who records, who
// replays. One replay per image however many containers start from it.
//
// Looking a record up, reading and making records happens on a thread of its own, so that whoever tells of an image or
// a container goes on at once. Any thread. Layers are told through LayerWatch.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "fuse/layer/program_clock.h"
#include "indexer/base/clock.h"
#include "indexer/base/mutex.h"
#include "indexer/base/thread_pool.h"
#include "indexer/oci/reference.h"
#include "snapshotter/replay/asked_recordings.h"
#include "snapshotter/replay/image_replay.h"
#include "snapshotter/replay/record_store.h"
#include "snapshotter/replay/recorder.h"
#include "snapshotter/replay/replay_report.h"
#include "snapshotter/replay/watched_layer.h"

namespace soci {

class ImageRecords : public LayerWatch {
 public:
  // A published record of the image, or none.
  using FindPublished = std::function<Result<std::optional<Record>>(
      const oci::Reference& image, const oci::Digest& manifest, const std::stop_token& stop)>;
  struct Options {
    bool record = true;
    bool replay = true;
    bool trust_own = true;
    FindPublished find_published;  // empty: none is believed
    Recorder::Options recorder;
    ImageReplay::Options replays;
    std::chrono::milliseconds remember_no{60'000};  // that there was no record
  };

  // `folder`: where the host's own records lie.
  ImageRecords(const std::string& folder, const Clock& clock, ProgramClock& program, Options options);
  ~ImageRecords() override;

  // The image is being pulled, or started: its replay begins when a record is found. Cheap to call again.
  void Want(const oci::Reference& image, const oci::Digest& manifest);
  void ContainerPrepared(const oci::Reference& image, const StartingContainer& container);

  // Recordings that were asked for: AskedRecordings. One that is `kept` is merged into the host's own record.
  std::string AskRecording(AskedRecording wanted) { return asked_.Ask(std::move(wanted)); }
  Status ClaimRecording(const std::string& name) { return asked_.Claim(name); }
  Status BeginRecording(const std::string& name, const std::vector<oci::LayerDigest>& layers,
                        const std::vector<WatchedLayer>& open);
  Result<RecordingProgress> ProgressOf(const std::string& name) const { return asked_.ProgressOf(name); }
  void FinishRecording(const std::string& name) { asked_.Finish(name); }
  Result<Record> TakeRecording(const std::string& name, bool kept);

  void LayerOpened(const WatchedLayer& layer) override;
  void LayerClosing(const oci::LayerDigest& layer) override;

  // Ends recording of the image, or of all; how many records were being made. They are kept when it returns.
  size_t FinishRecording(const std::optional<oci::Digest>& manifest) { return recorder_.Finish(manifest); }

  // No layer is used any more when it returns; what was recorded by then is kept.
  void Stop();

  std::vector<ReplayReport> Reports() const;

  struct Totals {  // since the start
    uint64_t records_made = 0;
    uint64_t replays_started = 0;
    uint64_t replays_wrong = 0;  // stopped, because the program needed other things
    uint64_t bytes = 0;
    uint64_t hits = 0;
    uint64_t late = 0;
    uint64_t misses = 0;
  };
  Totals totals() const;

 private:
  struct Image {
    std::string name;
    bool looking = true;
    RecordSource source = RecordSource::kNone;
    std::string reason;
    Clock::TimePoint looked;
    std::shared_ptr<ImageReplay> replay;
  };
  struct Found {
    RecordSource source = RecordSource::kNone;
    std::optional<Record> record;
    std::string reason;
  };

  void DropUnused(Clock::TimePoint now) SOCI_REQUIRES(mutex_);
  void LookUp(const oci::Reference& image, const oci::Digest& manifest);
  Found Find(const oci::Reference& image, const oci::Digest& manifest);
  void Keep(const std::string& image, const Record& record);
  void Retire(Image& image) SOCI_REQUIRES(mutex_);
  void RunTimer();

  const Clock& clock_;
  const ProgramClock& program_;
  const Options options_;
  RecordStore store_;
  AskedRecordings asked_;  // hears of the recorder until that has gone
  Recorder recorder_;
  std::stop_source stop_;

  // Held while layers join and leave, so that none goes in between: before ImageReplay's and Recorder's.
  mutable Mutex mutex_;
  CondVar wake_;
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
  std::map<oci::LayerDigest, WatchedLayer> layers_ SOCI_GUARDED_BY(mutex_);
  std::map<oci::Digest, Image> images_ SOCI_GUARDED_BY(mutex_);
  Totals ended_ SOCI_GUARDED_BY(mutex_);  // of images that are forgotten

  ThreadPool pool_{"records", 1};
  std::thread timer_;
};

}  // namespace soci
