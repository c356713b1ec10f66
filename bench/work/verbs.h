// What a program in a made image can do with its files. Each verb reads, compares all it read with what has to be
// there, and prints lines for the benchmark; std::runtime_error says what was wrong.
#pragma once

#include <cstdint>

#include "bench/work/checked_file.h"

namespace soci::bench {

// The trace that the image carries.
void PlayImport(const ImageRoot& root);
// That, then four readers over the shuffled data set.
void ReadEpoch(const ImageRoot& root);
// So many percent of all bytes, in stretches of at most a megabyte, in shuffled order, by four readers. A larger share
// contains a smaller one's.
void ReadDensity(const ImageRoot& root, double percent);
// The model, in order.
void ReadSequential(const ImageRoot& root);
// So many pages, one after the other, far from each other, in the large libraries.
void ReadRandom(const ImageRoot& root, uint64_t count);
// The largest library: from the registry, the disk, memory; then pages of it at random, by one and by four readers.
void ReadWarm(const ImageRoot& root);
// Walks all folders, cold and hot, then opens files here and there.
void WalkMetadata(const ImageRoot& root);
// Pages for so many seconds, each by an open of its own; reads that fail are counted and do not end it.
void ReadSteadily(const ImageRoot& root, uint64_t seconds);

}  // namespace soci::bench
