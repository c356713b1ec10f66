// Where things lie below the state and run directories. A value; see docs/architecture.md, "On disk".
#pragma once

#include <cstdint>
#include <string>

#include "indexer/oci/digest.h"

namespace soci {

struct StatePaths {
  std::string state;
  std::string run;

  std::string LayersFolder() const { return state + "/layers/sha256"; }
  std::string LayerFolder(const oci::LayerDigest& layer) const { return LayersFolder() + "/" + layer.Hex(); }
  std::string RecordsFolder() const { return state + "/records/sha256"; }
  std::string LinksFolder() const { return state + "/l"; }
  // All are short on purpose: 127 of them have to fit one page of mount options.
  std::string SealedLink(uint32_t number) const { return LinksFolder() + "/" + std::to_string(number); }
  std::string MountPoint(uint32_t number) const { return run + "/m/" + std::to_string(number); }
  std::string RecordingsFolder() const { return run + "/r"; }
  std::string RecordingMountPoint(uint32_t number) const { return RecordingsFolder() + "/" + std::to_string(number); }
};

}  // namespace soci
