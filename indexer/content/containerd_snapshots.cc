#include "indexer/content/containerd_snapshots.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "proto/containerd/diff.grpc.pb.h"
#include "proto/containerd/snapshots.grpc.pb.h"

namespace soci {
namespace {

namespace snapshots = containerd::services::snapshots::v1;
namespace diff = containerd::services::diff::v1;

constexpr auto kNoDeadline = std::chrono::milliseconds(0);

}  // namespace

Result<bool> ContainerdSnapshots::Exists(const std::string& name) {
  ContainerdCall call(channel_);
  snapshots::StatSnapshotRequest request;
  request.set_snapshotter(snapshotter_);
  request.set_key(name);
  snapshots::StatSnapshotResponse response;
  const grpc::Status status =
      snapshots::Snapshots::NewStub(channel_.channel())->Stat(call.context(), request, &response);
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return false;
  if (!status.ok()) return FromGrpc(status, fmt::format("snapshotter {}: stat {}", snapshotter_, name));
  return true;
}

Result<std::optional<std::vector<ContainerdMount>>> ContainerdSnapshots::Prepare(
    const std::string& key, const std::string& parent, const std::map<std::string, std::string>& labels) {
  ContainerdCall call(channel_, kNoDeadline);  // the snapshotter may have to ask the registry
  snapshots::PrepareSnapshotRequest request;
  request.set_snapshotter(snapshotter_);
  request.set_key(key);
  request.set_parent(parent);
  request.mutable_labels()->insert(labels.begin(), labels.end());
  snapshots::PrepareSnapshotResponse response;
  const grpc::Status status =
      snapshots::Snapshots::NewStub(channel_.channel())->Prepare(call.context(), request, &response);
  if (status.error_code() == grpc::StatusCode::ALREADY_EXISTS) return std::optional<std::vector<ContainerdMount>>();
  if (!status.ok()) return FromGrpc(status, fmt::format("snapshotter {}: prepare {}", snapshotter_, key));
  std::vector<ContainerdMount> mounts;
  for (const auto& mount : response.mounts()) {
    mounts.push_back({mount.type(), mount.source(), mount.target(), {mount.options().begin(), mount.options().end()}});
  }
  return std::optional(std::move(mounts));
}

Status ContainerdSnapshots::Commit(const std::string& name, const std::string& key,
                                   const std::map<std::string, std::string>& labels) {
  grpc::Status status;
  {
    ContainerdCall call(channel_);
    snapshots::CommitSnapshotRequest request;
    request.set_snapshotter(snapshotter_);
    request.set_name(name);
    request.set_key(key);
    request.mutable_labels()->insert(labels.begin(), labels.end());
    google::protobuf::Empty response;
    status = snapshots::Snapshots::NewStub(channel_.channel())->Commit(call.context(), request, &response);
  }
  if (status.error_code() == grpc::StatusCode::ALREADY_EXISTS) return Remove(key);
  return FromGrpc(status, fmt::format("snapshotter {}: commit {}", snapshotter_, name));
}

Status ContainerdSnapshots::Remove(const std::string& key) {
  ContainerdCall call(channel_, std::chrono::minutes(1), ContainerdCall::Stoppable::kNo);
  snapshots::RemoveSnapshotRequest request;
  request.set_snapshotter(snapshotter_);
  request.set_key(key);
  google::protobuf::Empty response;
  const grpc::Status status =
      snapshots::Snapshots::NewStub(channel_.channel())->Remove(call.context(), request, &response);
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return OkStatus();
  return FromGrpc(status, fmt::format("snapshotter {}: remove {}", snapshotter_, key));
}

Result<oci::DiffId> ContainerdSnapshots::Apply(const oci::Descriptor& layer,
                                               const std::vector<ContainerdMount>& mounts) {
  ContainerdCall call(channel_, kNoDeadline);
  diff::ApplyRequest request;
  request.mutable_diff()->set_media_type(layer.media_type);
  request.mutable_diff()->set_digest(layer.digest.ToString());
  request.mutable_diff()->set_size(layer.size);
  for (const ContainerdMount& mount : mounts) {
    auto* added = request.add_mounts();
    added->set_type(mount.type);
    added->set_source(mount.source);
    added->set_target(mount.target);
    for (const std::string& option : mount.options) added->add_options(option);
  }
  diff::ApplyResponse response;
  const grpc::Status status = diff::Diff::NewStub(channel_.channel())->Apply(call.context(), request, &response);
  if (!status.ok()) return FromGrpc(status, "unpacking layer " + layer.digest.ToString());
  return oci::DiffId::Parse(response.applied().digest());
}

}  // namespace soci
