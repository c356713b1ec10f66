// A disk that takes no more than a given rate: a file system of its own, in a file without a name, on a loop device
// that the kernel limits for reads and for writes, those of its own writeback included.
//
// It is mounted over a directory. What is left when the mount ends goes by itself. The limit is set on the root of
// cgroup v1's blkio controller, as everything that the kernel writes by itself counts there; for the same reason the
// calling thread, and what it starts, leaves that controller's other groups and no longer sees it, so that containers
// get no group in it. Failures throw std::runtime_error. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "indexer/base/result.h"
#include "tests/e2e/support/sandbox.h"

namespace soci::bench {

class LimitedDisk {
 public:
  // kUnimplemented says in one line what this machine lacks.
  static Status Supported();

  // In a mount namespace of its own (EnterOwnMounts). Call it before anything is in the sandbox.
  LimitedDisk(const test::Sandbox& sandbox, uint64_t bytes_per_second);
  // Leaves the unmounting to the sandbox's sweep if the disk is still in use.
  ~LimitedDisk();
  LimitedDisk(const LimitedDisk&) = delete;
  LimitedDisk& operator=(const LimitedDisk&) = delete;

 private:
  const std::string root_;
  std::string device_;  // "7:0"
};

}  // namespace soci::bench
