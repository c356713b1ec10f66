// containerd's image records and leases. Any thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "indexer/content/containerd_channel.h"
#include "indexer/oci/descriptor.h"

namespace soci {

class ContainerdImages {
 public:
  explicit ContainerdImages(const ContainerdChannel& channel) : channel_(channel) {}

  // What the name stands for; nothing if there is no such image.
  Result<std::optional<oci::Descriptor>> Find(const std::string& name);
  // Makes the record, or points an existing one to `target`.
  Status Set(const std::string& name, const oci::Descriptor& target, const std::map<std::string, std::string>& labels);

 private:
  const ContainerdChannel& channel_;
};

// A lease that holds what a pull makes until the image record does; it ends with this object, or, if we are killed, by
// itself after a day.
class ContainerdLease {
 public:
  // Also sets it on the channel, which outlives the lease.
  static Result<std::unique_ptr<ContainerdLease>> Create(ContainerdChannel& channel);
  ~ContainerdLease();

 private:
  ContainerdLease(ContainerdChannel& channel, std::string id) : channel_(channel), id_(std::move(id)) {}
  ContainerdChannel& channel_;
  const std::string id_;
};

}  // namespace soci
