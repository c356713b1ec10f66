// A directory of one test's own, below the system's temporary directory; gone with the object.
//
// The destructor unmounts whatever is still mounted below it (lazily, deepest first) before it removes the tree, so a
// failed test leaves nothing behind; where the destructor does not run, as the test program was killed or crashed, a
// guardian process does the same. Keep it the first member of a fixture: it must go last. One thread at a time.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace soci::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  // A path below it; nothing is made.
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  void StartGuardian();

  std::string path_;
  int guardian_input_ = -1;
  pid_t guardian_ = -1;
};

// Unmounts what is mounted below it and removes it.
void RemoveDirectory(const std::string& path);

// Mount points at and below a directory, in the order in which they were mounted.
std::vector<std::string> MountPointsBelow(const std::string& folder);

// Unmounts all that is mounted below `folder`, deepest first. Returns how many mounts there were.
int UnmountAllBelow(const std::string& folder);

}  // namespace soci::test
