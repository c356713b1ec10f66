// What is known about an image, found out once: its SOCI index, and for every layer a table on disk or the reason why
// there is none.
//
// Any thread. Callers that ask for the same image at the same time wait for one search. An image without an index and
// failures are remembered for a short configured time only; a sound answer stays until its layers are gone.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "indexer/base/clock.h"
#include "indexer/base/mutex.h"
#include "snapshotter/pull/layer_folders.h"
#include "snapshotter/pull/layer_origin.h"
#include "snapshotter/pull/layer_request.h"
#include "snapshotter/pull/layer_unpacks.h"

namespace soci {

class LayerTable;
class RegistryClient;

struct PreparedLayer {
  bool has_ztoc = false;
  std::optional<LayerOrigin> origin;  // there is a table in the layer's folder
  std::shared_ptr<const LayerTable> table;
  std::string reason;  // why there is none
  bool retry = false;  // ... and whether it may work later
  std::shared_ptr<const LayerFolders::Hold> hold;
  std::shared_ptr<const LayerUnpacks::Wish> unpack;  // there will be one, in the folder that this says
};

struct PreparedImage {
  std::optional<oci::Digest> soci_index;
  std::string reason;  // why there is no index
  std::map<oci::LayerDigest, PreparedLayer> layers;
  bool settled = true;  // false: something failed that may work later
};

class ImageSessions {
 public:
  struct Options {
    bool bound_only = false;                                          // trust = "bound"
    bool referrers = true;                                            // look among the image's referrers
    std::chrono::milliseconds budget = std::chrono::seconds(30);      // for finding the index and the tables
    std::chrono::milliseconds remember_no = std::chrono::minutes(1);  // no index, or a failure
    size_t parallel = 16;                                             // zTOCs fetched at once
  };

  // Borrows them; they outlive it. With `unpacks`, layers without a zTOC are unpacked by ourselves, all at once.
  ImageSessions(RegistryClient& registry, LayerFolders& folders, const Clock& clock, Options options,
                LayerUnpacks* unpacks = nullptr);

  // Never an error for an image without an index. Why an image is not lazy is logged here, once for each search.
  Result<std::shared_ptr<const PreparedImage>> Get(const LayerRequest& request);

  // The daemon stops: searches under way end, and no new one leads to anything.
  void Stop() { stop_.request_stop(); }

  // Searches by what came of them, since the start.
  struct Counts {
    uint64_t found = 0;
    uint64_t no_index = 0;
    uint64_t not_looked_for = 0;  // no index was named, and others may not be looked for
    uint64_t failed = 0;
  };
  Counts counts() const;

  // Forgets images that have `layer`, because nobody uses it any more: its folder goes, and those of the image's layers
  // that were never asked for. Layers in use are held by those who use them.
  void Forget(const oci::LayerDigest& layer);
  // Forgets this image: its pull was given up. What others wait for goes on.
  void Forget(const PreparedImage& image);
  // Forgets images that no one asked for in the last `idle` and none of whose layers is `in_use`.
  void ForgetIdle(std::chrono::milliseconds idle, const std::function<bool(const oci::LayerDigest&)>& in_use);

 private:
  using Answer = Result<std::shared_ptr<const PreparedImage>>;
  struct Session {
    bool searching = true;
    Answer answer = absl::UnknownError("not asked yet");
    Clock::TimePoint asked;
    std::optional<Clock::TimePoint> expires;
  };

  // Whether indexes are looked for that the image does not name.
  bool SearchesFreely() const { return !options_.bound_only && options_.referrers; }
  Answer Search(const LayerRequest& request);
  Status PrepareLayers(const LayerRequest& request, PreparedImage& image);
  void StartUnpack(const LayerRequest& request, const oci::Descriptor& descriptor, const oci::DiffId& diff_id,
                   bool lowest, PreparedLayer& place);
  void ForgetIf(const std::function<bool(const Session&)>& goes);

  RegistryClient& registry_;
  LayerFolders& folders_;
  const Clock& clock_;
  const Options options_;
  LayerUnpacks* const unpacks_;
  std::stop_source stop_;

  mutable Mutex mutex_;  // held while `in_use` is asked; never while folders go
  CondVar found_;
  std::map<std::string, std::shared_ptr<Session>> sessions_ SOCI_GUARDED_BY(mutex_);
  Counts counts_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
