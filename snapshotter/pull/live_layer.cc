#include "snapshotter/pull/live_layer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "fuse/fetch/make_layer_fetcher.h"
#include "fuse/layer/first_reads.h"
#include "fuse/layer/make_layer_reader.h"
#include "fuse/store/layer_store.h"
#include "indexer/base/log.h"
#include "indexer/codec/span_decoder.h"
#include "indexer/registry/registry_client.h"
#include "indexer/table/layer_table.h"
#include "indexer/table/stream_tail.h"

namespace soci {

Result<std::unique_ptr<LiveLayer>> LiveLayer::Open(const Parts& parts, const Place& place,
                                                   const oci::LayerDigest& layer, const LayerOrigin& origin,
                                                   std::shared_ptr<const LayerFolders::Hold> hold,
                                                   std::shared_ptr<const LayerTable> table) {
  std::unique_ptr<LiveLayer> live(new LiveLayer(parts, place, layer, origin, std::move(hold)));
  live->table_ = std::move(table);
  SOCI_RETURN_IF_ERROR(live->OpenFiles());
  SOCI_RETURN_IF_ERROR(live->store_->sealed() ? live->LinkSealed() : live->Mount());
  return live;
}

LiveLayer::LiveLayer(const Parts& parts, const Place& place, const oci::LayerDigest& layer, const LayerOrigin& origin,
                     std::shared_ptr<const LayerFolders::Hold> hold)
    : parts_(parts), place_(place), layer_(layer), origin_(origin), hold_(std::move(hold)) {}

LiveLayer::~LiveLayer() {
  StopFill();
  Unmount();
}

// Readers first, then what they read from.
void LiveLayer::Unmount() {
  mount_.reset();
  reader_.reset();
  fetcher_.reset();
}

void LiveLayer::Detach() {
  if (mount_ != nullptr) mount_->Detach();
}

void LiveLayer::CloseFiles() {
  Unmount();
  if (Status closed = store_->Close(); !closed.ok()) log::Warning("layer {}: {}", layer_.ToString(), Message(closed));
}

Status LiveLayer::OpenFiles() {
  if (table_ == nullptr) {
    SOCI_ASSIGN_OR_RETURN(table_, LayerTable::Open(place_.folder + "/table", layer_));
  }
  LayerStoreOptions options;
  if (!origin_.unpacked) options.limit = parts_.cache_limit;
  SOCI_ASSIGN_OR_RETURN(store_, LayerStore::Open(place_.folder, table_, parts_.files, options));
  return OkStatus();
}

Status LiveLayer::Mount() {
  SOCI_ASSIGN_OR_RETURN(source_, parts_.registry.OpenBlob(origin_.image, origin_.LayerDescriptor(layer_)));
  LayerFetcherOptions options = parts_.fetch;
  options.host = origin_.image.host;
  options.decoder = &DecoderFor(table_->compression());
  fetcher_ = MakeLayerFetcher(parts_.scheduler, table_, *source_, *store_, options);
  first_reads_ = std::make_unique<FirstReads>(table_);
  reader_ = MakeLayerReader(table_, *store_, *fetcher_, parts_.io, parts_.read_ahead,
                            {first_reads_.get(), parts_.program_clock});
  SOCI_ASSIGN_OR_RETURN(mount_, parts_.mounter.Mount(*reader_, place_.mount_point));
  return OkStatus();
}

std::optional<WatchedLayer> LiveLayer::Watched() const {
  if (fetcher_ == nullptr) return std::nullopt;
  return WatchedLayer{layer_, table_, store_.get(), fetcher_.get(), first_reads_.get()};
}

bool LiveLayer::KeepWhole() { return store_->KeepWhole(); }

bool LiveLayer::kept_lazy() const { return store_->kept_lazy(); }

void LiveLayer::StartFill(std::function<void()> complete) {
  if (fetcher_ != nullptr) fetcher_->StartFill(std::move(complete));
}

void LiveLayer::StopFill() {
  stop_.request_stop();
  if (fetcher_ != nullptr) fetcher_->StopFill();
}

Status LiveLayer::Seal() {
  SealRequest request;
  request.diff_id = origin_.diff_id;
  request.stop = stop_.get_token();
  request.read_tail = [this](const std::function<Status(ByteSpan)>& sink) {
    FetchContext context;
    context.fetch_class = FetchClass::kFill;
    context.stop = stop_.get_token();
    return ReadStreamTail(*table_, *source_, context, sink);
  };
  SOCI_RETURN_IF_ERROR(store_->Seal(request));
  return LinkSealed();
}

Status LiveLayer::LinkSealed() {
  if (place_.sealed_link.empty()) return OkStatus();
  const std::string target = store_->sealed_path();
  const std::string temporary = place_.sealed_link + ".new";
  ::unlink(temporary.c_str());
  if (::symlink(target.c_str(), temporary.c_str()) != 0) return ErrnoStatus(errno, "linking " + temporary);
  if (::rename(temporary.c_str(), place_.sealed_link.c_str()) != 0) {
    return ErrnoStatus(errno, "linking " + place_.sealed_link);
  }
  linked_.store(true, std::memory_order_release);
  return OkStatus();
}

bool LiveLayer::unsettled() const { return store_->unsettled(); }

Status LiveLayer::Settle() { return store_->Settle(); }

Status LiveLayer::condemned() const { return store_->condemned(); }

std::string LiveLayer::LowerDirectory() const { return sealed() ? place_.sealed_link : place_.mount_point; }

Result<std::unique_ptr<RecordingMount>> LiveLayer::MountForRecording(const std::string& mount_point) {
  SOCI_RETURN_IF_ERROR(condemned());
  return RecordingMount::Make({layer_, table_, *store_, fetcher_.get()},
                              {parts_.mounter, parts_.io, parts_.read_ahead, parts_.program_clock}, mount_point);
}

LayerReport LiveLayer::Report() const {
  LayerReport report;
  report.layer = layer_;
  report.image = origin_.image.ToString();
  report.manifest = origin_.manifest;
  report.layer_size = origin_.layer_size;
  report.unpacked = origin_.unpacked;
  report.spans = table_->span_count();
  report.spans_present = store_->present_count();
  report.directory = LowerDirectory();
  if (Status why = condemned(); !why.ok()) {
    report.state = LayerState::kCondemned;
    report.reason = std::string(Message(why));
  } else if (sealed()) {
    report.state = LayerState::kSealed;
  } else if (kept_lazy()) {
    report.reason = "kept lazy: cache.limit has no room for all of it";
  } else if (report.spans_present == report.spans) {
    report.state = LayerState::kComplete;
  } else if (fetcher_ != nullptr && fetcher_->fill_state() == LayerFetcher::FillState::kRunning) {
    report.state = LayerState::kFilling;
  }
  return report;
}

}  // namespace soci
