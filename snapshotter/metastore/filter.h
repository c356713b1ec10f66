// containerd's filter language over snapshots: `kind==committed,labels."a.b"~=/^x/`.
//
// Fields: name, parent, kind (active, view, committed), labels.<key>. Operators ==, !=, ~= (RE2, found anywhere); a
// field alone asks whether it is there. A comma means and; several filters mean or; none, or an empty one, lets all
// through. Values are quoted like Go strings or end at a comma or space. Pure; a filter may be used by any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "indexer/base/result.h"
#include "snapshotter/metastore/snapshot.h"

namespace soci {

class SnapshotFilter {
 public:
  // kInvalidArgument naming the filter and the place where it stops making sense.
  static Result<SnapshotFilter> Parse(const std::vector<std::string>& filters);

  bool Matches(const Snapshot& snapshot) const;

 private:
  struct Selector;
  using Conjunction = std::vector<std::shared_ptr<const Selector>>;  // shared between copies of the filter

  std::vector<Conjunction> any_of_;
};

}  // namespace soci
