#include "indexer/content/containerd_images.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <ctime>

#include "indexer/base/log.h"
#include "proto/containerd/images.grpc.pb.h"
#include "proto/containerd/leases.grpc.pb.h"

namespace soci {
namespace {

namespace images = containerd::services::images::v1;
namespace leases = containerd::services::leases::v1;

constexpr std::time_t kLeaseSeconds = 24 * 60 * 60;

images::Image MakeRecord(const std::string& name, const oci::Descriptor& target,
                         const std::map<std::string, std::string>& labels) {
  images::Image image;
  image.set_name(name);
  image.mutable_labels()->insert(labels.begin(), labels.end());
  image.mutable_target()->set_media_type(target.media_type);
  image.mutable_target()->set_digest(target.digest.ToString());
  image.mutable_target()->set_size(target.size);
  return image;
}

}  // namespace

Result<std::optional<oci::Descriptor>> ContainerdImages::Find(const std::string& name) {
  ContainerdCall call(channel_);
  images::GetImageRequest request;
  request.set_name(name);
  images::GetImageResponse response;
  const grpc::Status status = images::Images::NewStub(channel_.channel())->Get(call.context(), request, &response);
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return std::optional<oci::Descriptor>();
  if (!status.ok()) return FromGrpc(status, "asking containerd for image " + name);
  oci::Descriptor target;
  target.media_type = response.image().target().media_type();
  target.size = response.image().target().size();
  SOCI_ASSIGN_OR_RETURN(target.digest, oci::Digest::Parse(response.image().target().digest()));
  return std::optional<oci::Descriptor>(std::move(target));
}

Status ContainerdImages::Set(const std::string& name, const oci::Descriptor& target,
                             const std::map<std::string, std::string>& labels) {
  auto stub = images::Images::NewStub(channel_.channel());
  {
    ContainerdCall call(channel_);
    images::CreateImageRequest request;
    *request.mutable_image() = MakeRecord(name, target, labels);
    images::CreateImageResponse response;
    const grpc::Status status = stub->Create(call.context(), request, &response);
    if (status.error_code() != grpc::StatusCode::ALREADY_EXISTS) return FromGrpc(status, "creating image " + name);
  }
  ContainerdCall call(channel_);
  images::UpdateImageRequest request;
  *request.mutable_image() = MakeRecord(name, target, labels);
  request.mutable_update_mask()->add_paths("target");
  for (const auto& [key, value] : labels) request.mutable_update_mask()->add_paths("labels." + key);
  images::UpdateImageResponse response;
  return FromGrpc(stub->Update(call.context(), request, &response), "updating image " + name);
}

Result<std::unique_ptr<ContainerdLease>> ContainerdLease::Create(ContainerdChannel& channel) {
  ContainerdCall call(channel);
  leases::CreateRequest request;
  std::tm expires{};
  const std::time_t when = std::time(nullptr) + kLeaseSeconds;
  ::gmtime_r(&when, &expires);
  (*request.mutable_labels())["containerd.io/gc.expire"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", expires);
  // containerd 1.6 chooses no id by itself.
  request.set_id(
      fmt::format("soci-pull-{}-{}", ::getpid(), std::chrono::steady_clock::now().time_since_epoch().count()));
  leases::CreateResponse response;
  const grpc::Status status = leases::Leases::NewStub(channel.channel())->Create(call.context(), request, &response);
  if (!status.ok()) return FromGrpc(status, "creating a lease");
  channel.SetLease(response.lease().id());
  return std::unique_ptr<ContainerdLease>(new ContainerdLease(channel, response.lease().id()));
}

ContainerdLease::~ContainerdLease() {
  channel_.SetLease("");
  ContainerdCall call(channel_, std::chrono::seconds(30), ContainerdCall::Stoppable::kNo);
  leases::DeleteRequest request;
  request.set_id(id_);
  google::protobuf::Empty response;
  const grpc::Status status = leases::Leases::NewStub(channel_.channel())->Delete(call.context(), request, &response);
  if (!status.ok()) log::Warning("{}", Message(FromGrpc(status, "deleting lease " + id_)));
}

}  // namespace soci
