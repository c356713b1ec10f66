// The client's side of containerd's snapshots, and its differ: what an unpacking client does for each layer. Any
// thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "indexer/content/containerd_channel.h"
#include "indexer/oci/descriptor.h"

namespace soci {

struct ContainerdMount {
  std::string type;
  std::string source;
  std::string target;
  std::vector<std::string> options;
};

class ContainerdSnapshots {
 public:
  // `snapshotter` as containerd's configuration names it.
  ContainerdSnapshots(const ContainerdChannel& channel, std::string snapshotter)
      : channel_(channel), snapshotter_(std::move(snapshotter)) {}

  Result<bool> Exists(const std::string& name);
  // Nothing if the snapshotter has the target already: there is nothing to fill.
  Result<std::optional<std::vector<ContainerdMount>>> Prepare(const std::string& key, const std::string& parent,
                                                              const std::map<std::string, std::string>& labels);
  // A name that exists already is fine; the key is then removed.
  Status Commit(const std::string& name, const std::string& key, const std::map<std::string, std::string>& labels);
  // Also after a stop was requested.
  Status Remove(const std::string& key);

  // Unpacks a layer blob of the content store into mounts; the digest of its tar.
  Result<oci::DiffId> Apply(const oci::Descriptor& layer, const std::vector<ContainerdMount>& mounts);

 private:
  const ContainerdChannel& channel_;
  const std::string snapshotter_;
};

}  // namespace soci
