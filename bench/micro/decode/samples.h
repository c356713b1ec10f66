// Gzip files to measure with: those named, or some made from what every machine has. Values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "indexer/base/result.h"

namespace soci::bench {

struct Sample {
  std::string name;
  std::string gzip;
  uint64_t decoded_size = 0;
};

Result<Sample> ReadSample(const std::string& path);

// Headers (text), shared libraries (code) and numbers like those of a model (weights), tens of MiB each, as gzip -6.
std::vector<Sample> MakeSamples(size_t size);

}  // namespace soci::bench
