// Which ways of filling a layer's snapshot are tried, in which order. Pure: a truth table.
//
// A failed attempt leaves nothing behind and the next one follows; the last is always to defer, which cannot fail.
#pragma once

#include <string>
#include <vector>

namespace soci {

enum class Attempt {
  kLazy,    // mount now, fetch bytes when read
  kUnpack,  // a full pull of our own
  kDefer,   // leave it to containerd
};

// What the image's session knows about one layer.
struct LayerSituation {
  bool allowed = true;      // labels are there, lazy loading is not switched off, the layer is not condemned
  bool has_index = false;   // the image has a SOCI index that may be trusted
  bool has_table = false;   // ... with a sound zTOC for this layer
  bool may_unpack = false;  // a full pull of our own is not switched off
};

using PullPlan = std::vector<Attempt>;

PullPlan PlanLayer(const LayerSituation& situation);

}  // namespace soci
