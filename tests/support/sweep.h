// Leaves nothing behind of a sandbox: containers, processes, mounts, control groups, sockets, files.
//
// Finds everything by what is the sandbox's own: its root directory, which is on the command line of each program, and
// its name, which is containerd's namespace and so the parent of its containers' control groups. Never touches anything
// else.
#pragma once

#include <string>
#include <vector>

namespace soci::test {

// Removes it all and names what it had to end or unmount by force: an orderly test leaves that empty.
std::vector<std::string> Sweep(const std::string& root, const std::string& name);

// Programs whose command line names the directory.
std::vector<int> ProcessesNaming(const std::string& folder);

}  // namespace soci::test
