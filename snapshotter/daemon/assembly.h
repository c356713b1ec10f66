// Every part of the daemon, made in order of dependence and ended in the opposite order. Reads as the architecture.
//
// Build makes parts without side effects that others could see; Start restores what is on disk, then opens the sockets.
// The destructor stops taking requests first, then fill, then unmounts: what is on disk stays for the next start.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuse/fetch/fetch_scheduler.h"
#include "fuse/layer/program_clock.h"
#include "fuse/session/null_keeper.h"
#include "fuse/session/session_pool.h"
#include "fuse/store/cache_limit.h"
#include "fuse/store/fd_cache.h"
#include "indexer/base/thread_pool.h"
#include "snapshotter/config/config.h"
#include "snapshotter/core/snapshotter.h"
#include "snapshotter/daemon/descriptor_shares.h"
#include "snapshotter/daemon/directory_lock.h"
#include "snapshotter/daemon/registry_parts.h"
#include "snapshotter/metastore/metastore.h"
#include "snapshotter/pull/image_session.h"
#include "snapshotter/pull/layer_folders.h"
#include "snapshotter/pull/layer_sync.h"
#include "snapshotter/pull/layer_unpacks.h"
#include "snapshotter/pull/lazy_layer_provider.h"
#include "snapshotter/pull/live_layers.h"
#include "snapshotter/replay/image_records.h"
#include "snapshotter/service/grpc_server.h"
#include "snapshotter/telemetry/admin_server.h"
#include "snapshotter/telemetry/metrics_exporter.h"

namespace soci {

class Assembly {
 public:
  // Errors name the part: a directory that cannot be made, /dev/fuse, a database.
  static Result<std::unique_ptr<Assembly>> Build(const Config& config);
  ~Assembly();

  // kAlreadyExists if another daemon has the sockets.
  Status Start();

 private:
  Assembly(const Config& config, const DescriptorShares& shares);
  Status Open();
  std::vector<LayerReport> LayerReports() const;
  std::string AnswerAdmin(std::string_view request);
  std::vector<MetricSample> Metrics() const;
  std::optional<CacheLimit::Figures> Cache() const;

  const Config config_;
  const DescriptorShares shares_;
  const StatePaths paths_;
  DirectoryLock run_lock_;
  DirectoryLock state_lock_;
  ProgramClock program_clock_;
  std::unique_ptr<RegistryParts> registry_;
  std::unique_ptr<FetchScheduler> scheduler_;
  NullKeeper keeper_;
  std::unique_ptr<SessionPool> mounter_;
  FdCache files_;
  std::unique_ptr<CacheLimit> cache_limit_;  // if there is one
  ThreadPool io_{"cold-read", 4};
  LayerFolders folders_;
  std::unique_ptr<LayerSync> sync_;
  std::unique_ptr<LayerUnpacks> unpacks_;
  std::unique_ptr<ImageSessions> sessions_;
  std::unique_ptr<ImageRecords> records_;
  std::unique_ptr<LiveLayers> live_;
  std::unique_ptr<LazyLayerProvider> provider_;
  std::unique_ptr<Metastore> metastore_;
  std::unique_ptr<Snapshotter> snapshotter_;
  std::unique_ptr<MetricsExporter> exporter_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<AdminServer> admin_;
};

}  // namespace soci
