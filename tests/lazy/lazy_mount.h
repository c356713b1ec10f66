// One layer as the daemon serves it, all parts real: table, store, scheduler, fetcher, reader, FUSE session. Its blob
// comes from memory, through a source that counts what is asked and can be cut off. Needs root and /dev/fuse.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "fuse/fetch/fetch_scheduler.h"
#include "fuse/fetch/layer_fetcher.h"
#include "fuse/fetch/make_layer_fetcher.h"
#include "fuse/layer/layer_reader.h"
#include "fuse/session/null_keeper.h"
#include "fuse/session/session_pool.h"
#include "fuse/store/layer_store.h"
#include "indexer/base/byte_source.h"
#include "indexer/base/thread_pool.h"
#include "tests/layers/indexed_layer.h"

namespace soci::test {

// What all mounts of a test share, as in the daemon.
struct LazyParts {
  explicit LazyParts(const FetchSchedulerOptions& options = {});

  FdCache files;
  ThreadPool io_pool{"io", 4};
  FetchScheduler scheduler;
  NullKeeper keeper;
  std::unique_ptr<SessionPool> sessions;
};

class LazyMount {
 public:
  struct Origin {
    const ByteSource* source = nullptr;  // outlives the mount; otherwise our own, which the calls below are about
    uint64_t fill_range = LayerFetcherOptions().fill_range;
    CacheLimit* limit = nullptr;
  };

  // Opens the layer below `folder` and mounts it there. `layer` outlives the mount. Throws std::runtime_error.
  LazyMount(LazyParts& parts, const std::string& folder, const IndexedLayer& layer)
      : LazyMount(parts, folder, layer, Origin()) {}
  LazyMount(LazyParts& parts, const std::string& folder, const IndexedLayer& layer, const Origin& origin);
  ~LazyMount();
  LazyMount(const LazyMount&) = delete;
  LazyMount& operator=(const LazyMount&) = delete;

  const std::string& path() const { return mount_point_; }
  LayerStore& store() { return *store_; }

  void BeginFill() {
    fetcher_->StartFill([] {});
  }
  // Fetches everything; returns when it is on the disk.
  void Fill();
  // Fetches the spans as a record's; their answers, when all are here.
  std::vector<Status> Replay(const std::vector<SpanId>& spans);
  Status Seal();
  // Mounts anew, so that the kernel remembers nothing of before.
  void Remount();

  // From now on the origin answers nothing.
  void CutOff() { source_->cut_off = true; }
  void Reconnect() { source_->cut_off = false; }
  uint64_t bytes_fetched() const { return source_->bytes; }
  uint64_t requests() const { return source_->requests; }

 private:
  class Source final : public ByteSource {
   public:
    explicit Source(const std::string& blob) : blob_(blob) {}
    uint64_t size() const override { return blob_.size(); }
    Status ReadAt(uint64_t offset, MutableByteSpan out, const FetchContext& context) const override;

    std::atomic<bool> cut_off = false;
    mutable std::atomic<uint64_t> bytes = 0;
    mutable std::atomic<uint64_t> requests = 0;

   private:
    const std::string& blob_;
  };

  void Mount();

  LazyParts& parts_;
  const IndexedLayer& layer_;
  const std::string mount_point_;
  const Origin origin_;
  std::unique_ptr<LayerStore> store_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<LayerFetcher> fetcher_;
  std::unique_ptr<LayerReader> reader_;
  std::unique_ptr<MountHandle> mount_;
};

// Why tests cannot mount here, or "".
std::string WhyNoMounts();

}  // namespace soci::test
