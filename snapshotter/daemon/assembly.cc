#include "snapshotter/daemon/assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "indexer/base/clock.h"
#include "indexer/base/file_io.h"
#include "indexer/index/record_artifact.h"
#include "snapshotter/daemon/metric_samples.h"
#include "snapshotter/daemon/record_requests.h"
#include "snapshotter/daemon/status_report.h"
#include "snapshotter/daemon/version.h"

namespace soci {
namespace {

constexpr uint64_t kLowLimit = 1024;

DescriptorShares SharesOf(const Config& config) {
  DescriptorShares wanted;
  wanted.demand_connections = config.registry.demand_connections;
  wanted.connections = config.registry.connections;
  const uint64_t limit = RaiseDescriptorLimit();
  const DescriptorShares shares = ShareDescriptors(limit, wanted);
  if (limit < kLowLimit) {
    log::Warning("{} descriptors may be open (LimitNOFILE): at most {} lazy layers, {} connections to a registry",
                 limit, shares.mounts, shares.connections);
  }
  return shares;
}

FetchSchedulerOptions SchedulerOptions(const Config& config, const DescriptorShares& shares) {
  FetchSchedulerOptions options;
  options.connections.urgent = shares.demand_connections;
  options.connections.total = shares.connections;
  options.decode_threads = config.fetch.decode_threads;
  options.decoded_limit = config.fetch.write_queue;
  return options;
}

LayerFetcherOptions FetcherOptions(const Config& config) {
  LayerFetcherOptions options;
  options.budget = config.registry.read_retry_budget;
  options.fill_range = config.fetch.fill_range;
  return options;
}

ImageSessions::Options SessionOptionsOf(const Config& config, const DescriptorShares& shares) {
  ImageSessions::Options options;
  options.parallel = std::min<size_t>(options.parallel, shares.connections);
  options.bound_only = config.index.trust == TrustPolicy::kBound;
  options.referrers = config.index.referrers;
  options.remember_no = config.index.negative_ttl;
  return options;
}

ImageRecords::Options RecordsOptionsOf(const Config& config, RegistryClient& registry) {
  ImageRecords::Options options;
  options.record = config.record.enabled;
  options.replay = config.replay.enabled && config.replay.trust != RecordTrust::kNone;
  if (config.replay.trust == RecordTrust::kPublished && config.index.referrers) {
    options.find_published = [&registry](const oci::Reference& image, const oci::Digest& manifest,
                                         const std::stop_token& stop) -> Result<std::optional<Record>> {
      FetchContext context;
      context.fetch_class = FetchClass::kReplay;
      context.stop = stop;
      SOCI_ASSIGN_OR_RETURN(std::optional<FoundRecord> found, FindRecord(registry, image, manifest, context));
      return found ? std::optional<Record>(std::move(found->record)) : std::nullopt;
    };
  }
  options.recorder.quiet = std::chrono::seconds(config.record.quiet_seconds);
  options.recorder.most_bytes = config.record.max_bytes;
  return options;
}

}  // namespace

Result<std::unique_ptr<Assembly>> Assembly::Build(const Config& config) {
  std::unique_ptr<Assembly> assembly(new Assembly(config, SharesOf(config)));
  SOCI_RETURN_IF_ERROR(assembly->Open());
  return assembly;
}

Assembly::Assembly(const Config& config, const DescriptorShares& shares)
    : config_(config),
      shares_(shares),
      paths_{config.paths.state, config.paths.run},
      program_clock_(SystemClock()),
      files_(shares.cached_files),
      cache_limit_(config.cache.limit == 0 ? nullptr : std::make_unique<CacheLimit>(config.cache.limit)),
      folders_(paths_) {}

// First what others wait for is cut short, and requests are refused; then every mount leaves the file system, so that
// none stays whatever takes its time afterwards. The rest is in the opposite order of the members: core, layers,
// threads.
Assembly::~Assembly() {
  folders_.KeepAll();  // a stop is no removal
  if (snapshotter_ != nullptr) snapshotter_->Stop();
  if (sessions_ != nullptr) sessions_->Stop();
  if (unpacks_ != nullptr) unpacks_->Stop();  // a Prepare may wait for one
  server_.reset();
  if (records_ != nullptr) records_->Stop();
  if (live_ != nullptr) live_->Stop();
  admin_.reset();
}

Status Assembly::Open() {
  SOCI_RETURN_IF_ERROR(MakeDirectories(paths_.state, 0711));
  SOCI_RETURN_IF_ERROR(MakeDirectories(paths_.run, 0711));
  // Before anything is touched: a second daemon would take away the first one's mounts.
  SOCI_ASSIGN_OR_RETURN(run_lock_, DirectoryLock::Take(paths_.run));
  SOCI_ASSIGN_OR_RETURN(state_lock_, DirectoryLock::Take(paths_.state));
  SOCI_RETURN_IF_ERROR(MakeDirectories(paths_.LinksFolder(), 0711));
  SOCI_RETURN_IF_ERROR(MakeDirectories(paths_.run + "/m", 0711));
  SOCI_ASSIGN_OR_RETURN(metastore_, Metastore::Open(paths_.state + "/metadata.db"));

  RegistryParts::Options registry;
  registry.remember_negative = config_.index.negative_ttl;
  registry.spool_directory = paths_.state + "/spool";
  registry.idle_connections = shares_.connections < config_.registry.connections ? shares_.connections : 128;
  SOCI_ASSIGN_OR_RETURN(registry_, RegistryParts::Make(config_.registry, registry));
  scheduler_ = std::make_unique<FetchScheduler>(SystemClock(), SchedulerOptions(config_, shares_));
  SessionPool::Options mounts;
  mounts.threads = config_.fuse.threads;
  mounts.most_mounts = shares_.mounts;
  SOCI_ASSIGN_OR_RETURN(mounter_, SessionPool::Start(keeper_, mounts));

  LayerUnpacks::Options unpacks;
  unpacks.parallel = config_.pull.parallel_layers;
  unpacks.window.connections = shares_.demand_connections;
  unpacks.budget = config_.registry.read_retry_budget;
  sync_ = std::make_unique<LayerSync>(paths_.LayersFolder());
  unpacks_ = std::make_unique<LayerUnpacks>(registry_->client(), folders_, *sync_, unpacks, scheduler_.get());
  sessions_ =
      std::make_unique<ImageSessions>(registry_->client(), folders_, SystemClock(), SessionOptionsOf(config_, shares_),
                                      config_.pull.unpack ? unpacks_.get() : nullptr);
  records_ = std::make_unique<ImageRecords>(paths_.RecordsFolder(), SystemClock(), program_clock_,
                                            RecordsOptionsOf(config_, registry_->client()));
  live_ = std::make_unique<LiveLayers>(LiveLayer::Parts{registry_->client(),
                                                        *scheduler_,
                                                        *mounter_,
                                                        files_,
                                                        io_,
                                                        FetcherOptions(config_),
                                                        {config_.fetch.read_ahead_max, config_.fetch.neighbours},
                                                        &program_clock_,
                                                        cache_limit_.get()},
                                       folders_, *sync_,
                                       LiveLayers::Options{config_.fetch.fill, {}, records_.get(), {}, true});
  provider_ = std::make_unique<LazyLayerProvider>(*sessions_, *live_, folders_, SystemClock(), records_.get());

  Snapshotter::Options core;
  core.state = paths_.state;
  core.run = paths_.run;
  core.overlay = DetectOverlayFlags();
  snapshotter_ = std::make_unique<Snapshotter>(*metastore_, *provider_, core);
  return OkStatus();
}

Status Assembly::Start() {
  SOCI_RETURN_IF_ERROR(snapshotter_->Restore());
  live_->RestoreEnded();
  if (!config_.service.metrics.empty()) {
    SOCI_ASSIGN_OR_RETURN(exporter_, MetricsExporter::Start(config_.service.metrics, [this] { return Metrics(); }));
  }
  SOCI_ASSIGN_OR_RETURN(server_, GrpcServer::Start(*snapshotter_, config_.service.socket));
  // Last: whoever gets an answer there may take the daemon for ready.
  SOCI_ASSIGN_OR_RETURN(admin_, AdminServer::Start(config_.service.admin_socket,
                                                   [this](std::string_view request) { return AnswerAdmin(request); }));
  return OkStatus();
}

std::vector<LayerReport> Assembly::LayerReports() const {
  std::vector<LayerReport> layers = live_->Report();
  for (LayerReport& unpacking : unpacks_->Report()) layers.push_back(std::move(unpacking));
  return layers;
}

std::string Assembly::AnswerAdmin(std::string_view request) {
  const auto json = nlohmann::json::parse(request.begin(), request.end(), nullptr, false);
  const std::string verb = json.is_object() && json.contains("verb") && json["verb"].is_string() ? json["verb"] : "";
  if (verb == "status") return StatusJson(LayerReports(), provider_->Deferrals(), records_->Reports(), Cache());
  if (verb == "record-release" && json.contains("recording") && json["recording"].is_string()) {
    provider_->EndRecording(json["recording"]);
    return "{}";
  }
  const RecordingLimits limits{std::chrono::seconds(config_.record.quiet_seconds), config_.record.max_bytes};
  if (auto answer = AnswerRecordRequest(*records_, request, limits)) return *std::move(answer);
  if (verb == "record-stop") return fmt::format("{{\"records\":{}}}", records_->FinishRecording(std::nullopt));
  if (verb == "version") return fmt::format("{{\"version\":\"{}\"}}", kVersion);
  return R"({"error":"unknown verb"})";
}

std::optional<CacheLimit::Figures> Assembly::Cache() const {
  return cache_limit_ == nullptr ? std::nullopt : std::optional(cache_limit_->figures());
}

std::vector<MetricSample> Assembly::Metrics() const {
  return MetricSamples(LayerReports(), sessions_->counts(), unpacks_->counts(), scheduler_->counters(),
                       scheduler_->decoded_bytes(), records_->totals(), Cache());
}

}  // namespace soci
