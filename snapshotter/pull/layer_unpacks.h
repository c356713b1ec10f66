// Full pulls under way: layers without a table, downloaded and unpacked by ourselves, several at once.
//
// A layer that two images want is unpacked once. It is unpacked beside its folder and renamed into it when it is whole,
// so that whatever else happens to the folder meanwhile, nothing half-written is ever in it. Any thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "indexer/base/mutex.h"
#include "indexer/base/thread_pool.h"
#include "snapshotter/pull/layer_folders.h"
#include "snapshotter/pull/layer_origin.h"
#include "snapshotter/pull/layer_report.h"
#include "snapshotter/unpack/ordered_download.h"

namespace soci {

class FetchScheduler;
class LayerSync;
class RegistryClient;

class LayerUnpacks {
 public:
  struct Options {
    size_t parallel = 3;  // layers at once
    DownloadWindow::Options window = {};
    // Without a byte from the registry for this long, a layer is left to containerd.
    std::chrono::milliseconds budget = std::chrono::seconds(60);
  };
  struct Unpacked {
    LayerOrigin origin;
    std::shared_ptr<const LayerFolders::Hold> hold;  // of the folder that has it
  };
  struct Job;

  // Somebody's wish for one layer; the last one to go cancels what is not finished. Must go before the unpacks do.
  class Wish {
   public:
    Wish(LayerUnpacks& unpacks, std::shared_ptr<Job> job) : unpacks_(unpacks), job_(std::move(job)) {}
    ~Wish();
    Wish(const Wish&) = delete;
    Wish& operator=(const Wish&) = delete;

    // Waits for the end of it, or until `stop`: kCancelled then.
    Result<Unpacked> Wait(const std::stop_token& stop) const;

   private:
    LayerUnpacks& unpacks_;
    const std::shared_ptr<Job> job_;
  };

  // Borrows them; without a scheduler nobody else is thought to use the network. What an earlier process left half done
  // is given to the folders to be collected.
  LayerUnpacks(RegistryClient& registry, LayerFolders& folders, LayerSync& sync, const Options& options,
               FetchScheduler* scheduler = nullptr);
  ~LayerUnpacks();

  // Begins, in the order of calls, or joins what is under way. `wanted` needs neither zTOC nor number.
  std::shared_ptr<const Wish> Start(const oci::LayerDigest& layer, const LayerOrigin& wanted, bool lowest);

  // The daemon stops: everything ends with kCancelled as soon as it can.
  void Stop();

  std::vector<LayerReport> Report() const;

  // Since the start.
  struct Counts {
    uint64_t bytes = 0;  // compressed, read
    uint64_t done = 0;
    uint64_t failed = 0;
    uint64_t cancelled = 0;
  };
  Counts counts() const;

 private:
  void Run(const std::shared_ptr<Job>& job);
  Result<Unpacked> Unpack(Job& job);

  RegistryClient& registry_;
  LayerFolders& folders_;
  LayerSync& sync_;
  const std::chrono::milliseconds budget_;
  DownloadWindow window_;
  mutable Mutex mutex_;  // a leaf
  CondVar ended_;
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
  uint64_t started_ SOCI_GUARDED_BY(mutex_) = 0;
  Counts counts_ SOCI_GUARDED_BY(mutex_);
  std::map<oci::LayerDigest, std::weak_ptr<Job>> jobs_ SOCI_GUARDED_BY(mutex_);
  ThreadPool pool_;  // last: its tasks use the rest
};

}  // namespace soci
