// Puts layers into the file system: one FUSE mount per layer, all served by one small pool of threads.
#pragma once

#include <memory>
#include <string>

#include "fuse/layer/layer_reader.h"
#include "indexer/base/result.h"

namespace soci {

// Our ownership of a mount; dropping it unmounts (lazily, so that a busy one goes away when its last user does) and
// removes the empty folder. Waits until nothing of it asks the layer any more.
class MountHandle {
 public:
  virtual ~MountHandle() = default;
  virtual const std::string& mount_point() const = 0;

  // Takes it out of the file system at once; what is asked through it already is answered until the handle is dropped.
  // For many mounts that go together: none of them stays in sight while others wait for their last reads.
  virtual void Detach() {}

  // Instead of unmounting: stops answering and leaves the mount to whoever takes it from the DescriptorKeeper. Only
  // dropping the handle is allowed afterwards.
  virtual void LeaveToSuccessor() {}
};

class Mounter {
 public:
  virtual ~Mounter() = default;

  // Mounts `layer` at the folder `mount_point` (made if missing; a dead mount left there by a predecessor is taken
  // away). The layer outlives the handle. kFailedPrecondition if /dev/fuse is missing or may not be opened.
  virtual Result<std::unique_ptr<MountHandle>> Mount(LayerReader& layer, const std::string& mount_point) = 0;
};

}  // namespace soci
