// Watches containers start and makes records of it: which parts of which files they read first, in which order, and
// what they worked in between.
//
// A run begins when a container's root is prepared and ends when the program has read nothing new for a while, has read
// enough, or somebody says so. Notes are taken once for each new part, under a leaf lock of the run; records are made
// on the thread that ends the run. Any thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuse/layer/program_clock.h"
#include "indexer/base/mutex.h"
#include "indexer/record/record.h"
#include "snapshotter/replay/watched_layer.h"

namespace soci {

// A container is about to start from these layers of an image.
struct StartingContainer {
  std::string image;  // for people
  oci::Digest manifest;
  std::vector<oci::LayerDigest> layers;  // those that are known, lowest first
};

// Why a run ended: nothing new for a while, enough was read, nothing was read at all, somebody said so, or the
// container it was asked for is gone.
enum class RunEnd { kQuiet, kFull, kIdle, kTold, kGone };

// A run that somebody asked for. It goes beside those of its image that begin by themselves, and hears only of the
// layers that it is given.
struct AskedRun {
  std::string name;
  std::chrono::milliseconds quiet{20'000};
  uint64_t most_bytes = uint64_t{4} << 30;
  // Gets what was recorded, be it nothing; Recorder::Done does not.
  std::function<void(const Record&, RunEnd)> over;
};

class Recorder {
 public:
  struct Options {
    std::chrono::milliseconds quiet{20'000};  // of the program's own time, without anything new
    uint64_t most_bytes = uint64_t{4} << 30;  // read for the first time
    std::chrono::milliseconds idle{600'000};  // a container that has read nothing by then
    size_t most_runs = 4;                     // at once
    size_t most_notes = 200'000;              // of one run
  };
  // Gets each record that is not empty, and the image's name.
  using Done = std::function<void(const std::string& image, const Record& record)>;

  Recorder(const ProgramClock& clock, Options options, Done done);
  // Ends every run.
  ~Recorder();

  // Does nothing if a run of the image is under way, or too many are. `open`: the layers that can be watched now.
  void Start(const StartingContainer& container, const std::vector<WatchedLayer>& open);
  // However many runs there are. `open`: all layers it will ever watch.
  void StartAsked(const StartingContainer& container, AskedRun asked, const std::vector<WatchedLayer>& open);
  // Runs that have the layer watch it from now on.
  void LayerOpened(const WatchedLayer& layer);
  void LayerClosing(const oci::LayerDigest& layer);

  // Ends runs whose time has come.
  void Tick();
  // Ends the run of the image, or every run; how many.
  size_t Finish(const std::optional<oci::Digest>& manifest);
  // Ends the run that was asked for by this name, if there is one, as its container is gone; nothing of its layers is
  // used when it returns.
  void FinishAsked(const std::string& name);

  bool IsRecording(const oci::Digest& manifest) const;
  bool idle() const;

 private:
  class Run;

  // The image, and the name of a run that was asked for.
  using Key = std::pair<oci::Digest, std::string>;
  using Choice = std::function<std::optional<RunEnd>(const Key&, const Run&)>;

  std::optional<RunEnd> IsOver(const Run& run) const;
  size_t EndThose(const Choice& choice);
  void End(Run& run, RunEnd end);

  const ProgramClock& clock_;
  const Options options_;
  const Done done_;
  mutable Mutex mutex_;  // before FirstReads; never while a record is made
  std::map<Key, std::shared_ptr<Run>> runs_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
