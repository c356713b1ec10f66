// Finds a registry's settings in directories laid out for containerd: <directory>/<host>/hosts.toml.
//
// A host with a port is looked for as "host_port_", then as written, then "_default". A folder without hosts.toml may
// hold
// *.crt, *.cert and *.key files, as docker's certs.d does. Files are looked at again for every question and read again
// when they have changed; a file that has become unreadable leaves the settings that were read before, with one
// warning. Any thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "indexer/base/mutex.h"
#include "indexer/net/hosts_toml.h"

namespace soci {

class HostsDirectory {
 public:
  // Several directories are parted by colons, as in containerd's config_path.
  explicit HostsDirectory(const std::string& directories);

  // None: nothing is configured for this host. kInvalidArgument: what is configured cannot be read and never could.
  Result<std::shared_ptr<const HostsToml>> Find(const std::string& host);

 private:
  struct Version {  // of a file, by what stat says
    int64_t mtime_ns = 0;
    uint64_t size = 0;
    uint64_t inode = 0;
    bool operator==(const Version&) const = default;
  };
  struct Read {
    Version version;
    std::shared_ptr<const HostsToml> hosts;
    Status status;
  };

  static std::optional<Version> Look(const std::string& path);
  Result<std::shared_ptr<const HostsToml>> ReadFolder(const std::string& folder);

  std::vector<std::string> directories_;
  Mutex mutex_;                                               // a leaf; held while a small local file is read
  std::map<std::string, Read> read_ SOCI_GUARDED_BY(mutex_);  // by path of the file
};

}  // namespace soci
