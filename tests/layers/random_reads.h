// Reads a tree as containers do: many threads, any file, any place. Any thread.
#pragma once

#include <string>

#include "tests/layers/tree.h"

namespace soci::test {

// Reads every regular file of `tree` below `root`, in random order and in pieces at random places that together cover
// it, from several threads. Returns what differed, one line each.
std::string ReadRandomly(const std::string& root, const Tree& tree, uint32_t seed, unsigned threads = 4);

}  // namespace soci::test
