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
  // Runs that have the layer watch it from now on.
  void LayerOpened(const WatchedLayer& layer);
  void LayerClosing(const oci::LayerDigest& layer);

  // Ends runs whose time has come.
  void Tick();
  // Ends the run of the image, or every run; how many.
  size_t Finish(const std::optional<oci::Digest>& manifest);

  bool IsRecording(const oci::Digest& manifest) const;
  bool idle() const;

 private:
  class Run;

  bool IsOver(const Run& run) const;
  void End(const std::shared_ptr<Run>& run);

  const ProgramClock& clock_;
  const Options options_;
  const Done done_;
  mutable Mutex mutex_;  // before FirstReads; never while a record is made
  std::map<oci::Digest, std::shared_ptr<Run>> runs_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
