#include "indexer/content/containerd_channel.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <filesystem>

namespace soci {
namespace {

constexpr auto kConnectTime = std::chrono::seconds(2);
constexpr int kLargestMessage = 16 << 20;  // containerd's own limit

}  // namespace

Result<std::unique_ptr<ContainerdChannel>> ContainerdChannel::Connect(Options options) {
  if (options.address.find("://") == std::string::npos) {
    options.address = "unix://" + std::filesystem::absolute(options.address).string();
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestMessage);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // gRPC would send the socket's path as authority, which Go's server refuses.
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  auto channel = grpc::CreateCustomChannel(options.address, grpc::InsecureChannelCredentials(), arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + kConnectTime)) {
    return absl::UnavailableError(fmt::format("no containerd answers at {}", options.address));
  }
  return std::unique_ptr<ContainerdChannel>(new ContainerdChannel(std::move(options), std::move(channel)));
}

ContainerdChannel::ContainerdChannel(Options options, std::shared_ptr<grpc::Channel> channel)
    : options_(std::move(options)), channel_(std::move(channel)) {}

ContainerdChannel::~ContainerdChannel() = default;

ContainerdCall::ContainerdCall(const ContainerdChannel& channel, std::chrono::milliseconds deadline,
                               Stoppable stoppable)
    : context_(std::make_unique<grpc::ClientContext>()) {
  context_->AddMetadata("containerd-namespace", channel.options().containerd_namespace);
  if (!channel.lease().empty()) context_->AddMetadata("containerd-lease", channel.lease());
  if (deadline.count() > 0) context_->set_deadline(std::chrono::system_clock::now() + deadline);
  if (stoppable == Stoppable::kYes) {
    cancel_.emplace(channel.options().stop, [context = context_.get()] { context->TryCancel(); });
  }
}

ContainerdCall::~ContainerdCall() = default;

Status FromGrpc(const grpc::Status& status, std::string_view context) {
  if (status.ok()) return OkStatus();
  return Status(static_cast<absl::StatusCode>(status.error_code()),
                fmt::format("{}: {}", context, status.error_message()));
}

}  // namespace soci
