#include "snapshotter/service/snapshot_service.h"

#include <grpcpp/grpcpp.h>

#include "proto/containerd/snapshots.grpc.pb.h"
#include "snapshotter/core/snapshotter.h"
#include "snapshotter/service/cancel_watch.h"
#include "snapshotter/service/grpc_status.h"

namespace soci {
namespace {

namespace wire = containerd::services::snapshots::v1;
using google::protobuf::Empty;
using grpc::ServerContext;

constexpr char kNamespaceKey[] = "containerd-namespace";
constexpr char kDefaultNamespace[] = "default";
constexpr int kInfosPerMessage = 100;

// Debian's containerd 1.6 does not pass the metadata on to proxy plugins, but names its keys
// <namespace>/<number>/<key>.
std::string NamespaceOf(const ServerContext& context, const std::string& key) {
  const auto found = context.client_metadata().find(kNamespaceKey);
  if (found != context.client_metadata().end()) return {found->second.data(), found->second.size()};
  const size_t first = key.find('/');
  const size_t second = first == std::string::npos ? first : key.find('/', first + 1);
  if (first == 0 || second == std::string::npos || second == first + 1) return kDefaultNamespace;
  const std::string number = key.substr(first + 1, second - first - 1);
  const bool numbered = number.find_first_not_of("0123456789") == std::string::npos;
  return numbered ? key.substr(0, first) : kDefaultNamespace;
}

template <typename Map>
Labels ToLabels(const Map& map) {
  return {map.begin(), map.end()};
}

wire::Kind ToWire(SnapshotKind kind) {
  switch (kind) {
    case SnapshotKind::kView:
      return wire::VIEW;
    case SnapshotKind::kActive:
      return wire::ACTIVE;
    case SnapshotKind::kCommitted:
      return wire::COMMITTED;
  }
  return wire::UNKNOWN;
}

void ToWire(std::chrono::system_clock::time_point time, google::protobuf::Timestamp& out) {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  out.set_seconds(since / 1'000'000'000);
  out.set_nanos(static_cast<int32_t>(since % 1'000'000'000));
}

void ToWire(const Snapshot& snapshot, wire::Info& out) {
  out.set_name(snapshot.name);
  out.set_parent(snapshot.parent);
  out.set_kind(ToWire(snapshot.kind));
  ToWire(snapshot.created, *out.mutable_created_at());
  ToWire(snapshot.updated, *out.mutable_updated_at());
  out.mutable_labels()->insert(snapshot.labels.begin(), snapshot.labels.end());
}

template <typename Response>
grpc::Status AnswerMounts(const Result<std::vector<Mount>>& mounts, Response& response) {
  if (!mounts.ok()) return ToGrpc(mounts.status());
  for (const Mount& mount : *mounts) {
    auto& out = *response.add_mounts();
    out.set_type(mount.type);
    out.set_source(mount.source);
    for (const std::string& option : mount.options) out.add_options(option);
  }
  return grpc::Status::OK;
}

template <typename Response>
grpc::Status AnswerInfo(const Result<Snapshot>& snapshot, Response& response) {
  if (!snapshot.ok()) return ToGrpc(snapshot.status());
  ToWire(*snapshot, *response.mutable_info());
  return grpc::Status::OK;
}

class SnapshotService final : public wire::Snapshots::Service {
 public:
  explicit SnapshotService(Snapshotter& snapshotter) : snapshotter_(snapshotter) {}

  grpc::Status Prepare(ServerContext* context, const wire::PrepareSnapshotRequest* request,
                       wire::PrepareSnapshotResponse* response) override {
    const CancelWatch::Watched call(watch_, *context);
    return AnswerMounts(snapshotter_.Prepare(request->key(), request->parent(), ToLabels(request->labels()),
                                             NamespaceOf(*context, request->key()), call.token()),
                        *response);
  }

  grpc::Status View(ServerContext*, const wire::ViewSnapshotRequest* request,
                    wire::ViewSnapshotResponse* response) override {
    return AnswerMounts(snapshotter_.View(request->key(), request->parent(), ToLabels(request->labels())), *response);
  }

  grpc::Status Mounts(ServerContext*, const wire::MountsRequest* request, wire::MountsResponse* response) override {
    return AnswerMounts(snapshotter_.Mounts(request->key()), *response);
  }

  grpc::Status Commit(ServerContext*, const wire::CommitSnapshotRequest* request, Empty*) override {
    return ToGrpc(snapshotter_.Commit(request->name(), request->key(), ToLabels(request->labels())));
  }

  grpc::Status Remove(ServerContext*, const wire::RemoveSnapshotRequest* request, Empty*) override {
    return ToGrpc(snapshotter_.Remove(request->key()));
  }

  grpc::Status Stat(ServerContext*, const wire::StatSnapshotRequest* request,
                    wire::StatSnapshotResponse* response) override {
    return AnswerInfo(snapshotter_.Stat(request->key()), *response);
  }

  grpc::Status Update(ServerContext*, const wire::UpdateSnapshotRequest* request,
                      wire::UpdateSnapshotResponse* response) override {
    const auto& paths = request->update_mask().paths();
    return AnswerInfo(
        snapshotter_.Update(request->info().name(), ToLabels(request->info().labels()), {paths.begin(), paths.end()}),
        *response);
  }

  grpc::Status List(ServerContext*, const wire::ListSnapshotsRequest* request,
                    grpc::ServerWriter<wire::ListSnapshotsResponse>* writer) override {
    const Result<std::vector<Snapshot>> found =
        snapshotter_.Walk({request->filters().begin(), request->filters().end()});
    if (!found.ok()) return ToGrpc(found.status());
    wire::ListSnapshotsResponse response;
    for (const Snapshot& snapshot : *found) {
      ToWire(snapshot, *response.add_info());
      if (response.info_size() < kInfosPerMessage) continue;
      if (!writer->Write(response)) return grpc::Status::CANCELLED;
      response.clear_info();
    }
    if (response.info_size() > 0 && !writer->Write(response)) return grpc::Status::CANCELLED;
    return grpc::Status::OK;
  }

  grpc::Status Usage(ServerContext*, const wire::UsageRequest* request, wire::UsageResponse* response) override {
    const Result<SnapshotUsage> usage = snapshotter_.Usage(request->key());
    if (!usage.ok()) return ToGrpc(usage.status());
    response->set_size(static_cast<int64_t>(usage->bytes));
    response->set_inodes(static_cast<int64_t>(usage->inodes));
    return grpc::Status::OK;
  }

  grpc::Status Cleanup(ServerContext*, const wire::CleanupRequest*, Empty*) override {
    return ToGrpc(snapshotter_.Cleanup());
  }

 private:
  Snapshotter& snapshotter_;
  CancelWatch watch_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeSnapshotService(Snapshotter& snapshotter) {
  return std::make_unique<SnapshotService>(snapshotter);
}

}  // namespace soci
