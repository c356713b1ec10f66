// A typed pointer to a blob, and the platform it may carry. Values. (Every member has an initialiser, so that any of
// them may be left out of a designated list.)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "indexer/oci/digest.h"

namespace soci::oci {

using Annotations = std::map<std::string, std::string>;  // sorted bytewise, as they are written

struct Platform {
  std::string architecture = {};
  std::string os = {};
  std::string os_version = {};
  std::vector<std::string> os_features = {};
  std::string variant = {};

  bool operator==(const Platform&) const = default;
  // "os/arch[/variant]".
  std::string ToString() const;
};

struct Descriptor {
  std::string media_type = {};
  Digest digest = {};
  int64_t size = 0;
  std::vector<std::string> urls = {};
  Annotations annotations = {};
  std::string data = {};  // decoded
  std::optional<Platform> platform = {};
  std::string artifact_type = {};

  bool operator==(const Descriptor&) const = default;
};

}  // namespace soci::oci
