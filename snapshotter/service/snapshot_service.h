// containerd.services.snapshots.v1.Snapshots on top of the core. Each handler decodes, calls and answers.
#pragma once

#include <memory>

namespace grpc {
class Service;
}

namespace soci {

class Snapshotter;

// Borrows the snapshotter. Any thread calls it.
std::unique_ptr<grpc::Service> MakeSnapshotService(Snapshotter& snapshotter);

}  // namespace soci
