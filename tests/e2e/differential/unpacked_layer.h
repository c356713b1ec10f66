// A layer as containerd's own unpacker makes it: imported as the upper layer of an image, unpacked by the overlayfs
// snapshotter, and looked at in the directory where that keeps it.
#pragma once

#include <string>

#include "tests/e2e/support/containerd.h"
#include "tests/e2e/support/sandbox.h"
#include "tests/layers/indexed_layer.h"

namespace soci::test {

// Returns the directory, or throws std::runtime_error with what ctr said. `name` is unique within the containerd.
std::string UnpackByContainerd(const Sandbox& sandbox, const Containerd& containerd, const std::string& name,
                               const IndexedLayer& layer);

}  // namespace soci::test
