// The state each measured run begins in: nothing of the image in the machine's page cache, all of it in the registry's.
#pragma once

#include <set>
#include <string>

#include "indexer/base/unique_fd.h"

namespace soci::bench {

// Writes what is dirty, then drops clean pages, names and inodes of the whole machine. False if it may not.
bool DropCaches();

// Whether the host of this virtual machine takes free memory back (a balloon that reports free pages). The first use
// of such memory costs ten times what its use costs, in whatever program comes first.
bool HostTakesFreeMemory();

// Fills free memory with the page cache of a file of holes, which the kernel gives up for whoever needs memory, as it
// is on a host that has run for long. `folder` is on a real disk; the file takes none of its room and has no name. The
// memory is as it was when the descriptor is closed. An empty one: it could not.
soci::UniqueFd OccupyFreeMemory(const std::string& folder);

// Reads every file below the folder, so that a registry that stores there answers from memory; all but what lies in
// folders of these names.
void WarmFolder(const std::string& folder, const std::set<std::string>& without);

}  // namespace soci::bench
