// Says that a directory is used by this process and no other, until the object or the process ends.
#pragma once

#include <string>

#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

namespace soci {

class DirectoryLock {
 public:
  // kFailedPrecondition, naming the directory, if another process has it.
  static Result<DirectoryLock> Take(const std::string& directory);
  DirectoryLock() = default;

 private:
  explicit DirectoryLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace soci
