#include "snapshotter/core/lower_directories.h"

#include <fmt/format.h>

namespace soci {

Result<std::vector<std::string>> LowerDirectories::Of(const std::vector<Snapshot>& parents) {
  std::vector<std::string> lowers;
  lowers.reserve(parents.size());
  for (const Snapshot& parent : parents) {
    SOCI_ASSIGN_OR_RETURN(std::string lower, Of(parent));
    lowers.push_back(std::move(lower));
  }
  return lowers;
}

Result<std::string> LowerDirectories::Of(const Snapshot& committed) {
  if (!committed.remote()) return folders_.Of(committed.id).fs;
  auto find = [&]() -> Result<std::string> {
    SOCI_ASSIGN_OR_RETURN(oci::LayerDigest layer, oci::LayerDigest::Parse(committed.layer));
    Result<std::string> lower = provider_.LowerDirectory(layer);
    if (lower.ok()) return lower;
    SOCI_RETURN_IF_ERROR(Restore(committed, LayerProvider::RestoreFrom::kAnywhere));
    return provider_.LowerDirectory(layer);
  };
  Result<std::string> lower = find();
  if (lower.ok()) return lower;
  return absl::UnavailableError(fmt::format("layer {} of snapshot {} cannot be mounted: {}", committed.layer,
                                            committed.name, Message(lower.status())));
}

Status LowerDirectories::Restore(const Snapshot& remote, LayerProvider::RestoreFrom from) {
  SOCI_ASSIGN_OR_RETURN(oci::LayerDigest layer, oci::LayerDigest::Parse(remote.layer));
  Status status = provider_.Restore(layer, remote.labels, from);
  MutexLock lock(mutex_);
  if (status.ok()) {
    broken_.erase(remote.layer);
  } else {
    broken_.insert(remote.layer);
  }
  return status;
}

void LowerDirectories::Forget(const std::string& layer) {
  MutexLock lock(mutex_);
  broken_.erase(layer);
}

bool LowerDirectories::AnyBroken() const {
  MutexLock lock(mutex_);
  return !broken_.empty();
}

}  // namespace soci
