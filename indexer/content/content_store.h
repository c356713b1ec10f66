// Digest -> bytes on this machine, and names for some of them: an OCI layout directory, or containerd's own store. Any
// thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/byte_source.h"
#include "indexer/oci/descriptor.h"

namespace soci {

class ContentStore {
 public:
  virtual ~ContentStore() = default;

  // kNotFound if it is not there.
  virtual Result<std::unique_ptr<ByteSource>> Open(const oci::Digest& digest) = 0;

  // Stores bytes under their digest; storing twice is fine.
  virtual Status Put(const oci::Descriptor& blob, std::string bytes) = 0;

  // The descriptor a name stands for; nothing if there is no such name.
  virtual Result<std::optional<oci::Descriptor>> Resolve(const std::string& name) = 0;

  // Manifests that are listed and have this subject (empty artifact type: all).
  virtual Result<std::vector<oci::Descriptor>> FindReferrers(const oci::Digest& subject,
                                                             std::string_view artifact_type) = 0;

  // Lists a stored manifest, replacing an entry of the same digest.
  virtual Status List(const oci::Descriptor& manifest) = 0;
};

}  // namespace soci
