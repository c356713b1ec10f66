// The state each measured run begins in: nothing of the image in the machine's page cache, all of it in the registry's.
#pragma once

#include <sys/types.h>

#include <set>
#include <stop_token>
#include <string>

#include "indexer/base/unique_fd.h"

namespace soci::bench {

// Whether the host of this virtual machine takes free memory back (a balloon that reports free pages). The first use
// of such memory costs ten times what its use costs, in whatever program comes first.
bool HostTakesFreeMemory();

// Empties the machine's caches, before each run. Where the host takes free memory, it is filled with the page cache of
// a file of holes, which the kernel gives up for whoever needs memory, as it is on a host that has run for long.
//
// The file takes no room on the disk and has no name; it goes with this object. What is in memory once stays there from
// run to run, as finding 20 GB anew takes the host up to a minute. One thread.
class ColdMachine {
 public:
  // `folder` is there, on a real disk. Throws std::system_error if the file cannot be made there.
  explicit ColdMachine(const std::string& folder);

  // Writes what is dirty, then drops clean pages, names and inodes of the whole machine. False if it may not.
  bool DropCaches();
  // Fills what is free by now, until it is stopped. Does nothing where the host leaves memory alone.
  void FillFreeMemory(const std::stop_token& stop);

 private:
  soci::UniqueFd file_;  // of holes; empty: nothing is to be filled
  off_t size_ = 0;
};

// Reads every file below the folder, so that a registry that stores there answers from memory; all but what lies in
// folders of these names. Ends when it is stopped.
void WarmFolder(const std::string& folder, const std::set<std::string>& without, const std::stop_token& stop);

}  // namespace soci::bench
