// Short names for lower directories, <run>/l/<snapshot id>, for stacks whose real paths would not fit the page that
// mount(2) takes. Symbolic links: the kernel resolves them while mounting. Any thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "indexer/base/result.h"

namespace soci {

class ShortLinks {
 public:
  explicit ShortLinks(std::string folder) : folder_(std::move(folder)) {}

  // The link that leads to `target`; one that led elsewhere is replaced in one step.
  Result<std::string> To(int64_t id, const std::string& target);

  // Links of snapshots that are gone go.
  void Keep(const std::set<int64_t>& ids);

 private:
  const std::string folder_;
};

}  // namespace soci
