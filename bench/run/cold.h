// The state each measured run begins in: nothing of the image in the machine's page cache, all of it in the registry's.
#pragma once

#include <string>

namespace soci::bench {

// Writes what is dirty, then drops clean pages, names and inodes of the whole machine. False if it may not.
bool DropCaches();

// Reads every file below the folder, so that a registry that stores there answers from memory.
void WarmFolder(const std::string& folder);

}  // namespace soci::bench
