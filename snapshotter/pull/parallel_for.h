// Runs a task for every number below `count`, at most `width` at once, and returns when all are done.
//
// On threads of its own, because the tasks wait for the network: in a shared pool one slow registry would hold up
// everybody else. Tasks must not throw.
#pragma once

#include <cstddef>
#include <functional>

namespace soci {

void ParallelFor(size_t count, size_t width, const std::function<void(size_t)>& task);

}  // namespace soci
