// A connection to containerd on behalf of one namespace, and the context every call to it needs.
//
// Calls may come from any thread. What is made while a lease is set belongs to that lease. A requested stop cancels
// calls that are under way (kCancelled). containerd's own error codes come through unchanged.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "indexer/base/result.h"

namespace grpc {
class Channel;
class ClientContext;
class Status;
}  // namespace grpc

namespace soci {

class ContainerdChannel {
 public:
  struct Options {
    std::string address = "/run/containerd/containerd.sock";  // a path, or unix://path
    std::string containerd_namespace = "default";
    std::stop_token stop = {};
  };

  // kUnavailable, naming the address, if nobody answers there.
  static Result<std::unique_ptr<ContainerdChannel>> Connect(Options options);
  ~ContainerdChannel();

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  const Options& options() const { return options_; }

  // Set before calls are made; empty for none.
  void SetLease(std::string lease) { lease_ = std::move(lease); }
  const std::string& lease() const { return lease_; }

 private:
  ContainerdChannel(Options options, std::shared_ptr<grpc::Channel> channel);

  const Options options_;
  const std::shared_ptr<grpc::Channel> channel_;
  std::string lease_;
};

// One call: its metadata, its deadline and what cancels it.
class ContainerdCall {
 public:
  // No deadline if it is zero. Calls that clean up are made even after a stop was requested.
  enum class Stoppable { kYes, kNo };
  explicit ContainerdCall(const ContainerdChannel& channel,
                          std::chrono::milliseconds deadline = std::chrono::minutes(1),
                          Stoppable stoppable = Stoppable::kYes);
  ~ContainerdCall();

  grpc::ClientContext* context() { return context_.get(); }

 private:
  std::unique_ptr<grpc::ClientContext> context_;
  std::optional<std::stop_callback<std::function<void()>>> cancel_;  // ends before the context does
};

// "context: containerd's message", same code.
Status FromGrpc(const grpc::Status& status, std::string_view context);

}  // namespace soci
