#include "tests/lazy/lazy_mount.h"

#include <unistd.h>

#include <cstring>
#include <future>
#include <mutex>
#include <stdexcept>

#include "fuse/layer/make_layer_reader.h"
#include "indexer/codec/span_decoder.h"

namespace soci::test {
namespace {

template <typename T>
T Take(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(std::string(Message(result.status())));
  return *std::move(result);
}

}  // namespace

std::string WhyNoMounts() {
  return ::geteuid() == 0 && ::access("/dev/fuse", R_OK | W_OK) == 0 ? "" : "needs root and /dev/fuse";
}

LazyParts::LazyParts(const FetchSchedulerOptions& options)
    : scheduler(SystemClock(), options), sessions(Take(SessionPool::Start(keeper))) {}

Status LazyMount::Source::ReadAt(uint64_t offset, MutableByteSpan out, const FetchContext&) const {
  if (cut_off) return absl::UnavailableError("the registry is gone");
  if (offset > blob_.size() || out.size() > blob_.size() - offset) return absl::OutOfRangeError("past the end");
  std::memcpy(out.data(), blob_.data() + offset, out.size());
  bytes += out.size();
  ++requests;
  return OkStatus();
}

LazyMount::LazyMount(LazyParts& parts, const std::string& folder, const IndexedLayer& layer, const Origin& origin)
    : parts_(parts),
      layer_(layer),
      mount_point_(folder + "/mount"),
      origin_(origin),
      store_(Take(LayerStore::Open(folder + "/layer", layer.table, parts.files,
                                   {.before_step = {}, .boot = ThisBoot(), .limit = origin.limit}))),
      source_(std::make_unique<Source>(layer.blob)) {
  Mount();
}

LazyMount::~LazyMount() {
  mount_.reset();
  reader_.reset();
  fetcher_.reset();
}

void LazyMount::Mount() {
  LayerFetcherOptions options;
  options.host = "registry.example";
  options.budget = std::chrono::seconds(2);
  options.fill_range = origin_.fill_range;
  options.decoder = &DecoderFor(layer_.table->compression());
  fetcher_ = MakeLayerFetcher(parts_.scheduler, layer_.table, origin_.source != nullptr ? *origin_.source : *source_,
                              *store_, options);
  reader_ = MakeLayerReader(layer_.table, *store_, *fetcher_, parts_.io_pool);
  mount_ = Take(parts_.sessions->Mount(*reader_, mount_point_));
}

void LazyMount::Remount() {
  mount_.reset();
  reader_.reset();
  fetcher_.reset();
  Mount();
}

void LazyMount::Fill() {
  std::promise<void> complete;
  fetcher_->StartFill([&complete] { complete.set_value(); });
  complete.get_future().wait();
}

std::vector<Status> LazyMount::Replay(const std::vector<SpanId>& spans) {
  std::mutex mutex;
  std::vector<Status> answers;
  std::promise<void> all;
  fetcher_->Replay(spans, 0, [&](SpanId, const Status& status) {
    std::lock_guard lock(mutex);
    answers.push_back(status);
    if (answers.size() == spans.size()) all.set_value();
  });
  all.get_future().wait();
  std::lock_guard lock(mutex);
  return answers;
}

Status LazyMount::Seal() { return store_->Seal({.diff_id = layer_.diff_id, .read_tail = {}, .stop = {}}); }

}  // namespace soci::test
