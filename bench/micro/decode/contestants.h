// What is measured: each runs once over a sample and gives the number of bytes it decoded. One thread calls.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/micro/decode/samples.h"

namespace soci::bench {

struct Contestant {
  std::string name;
  std::function<uint64_t(const Sample&)> run;
};

std::vector<Contestant> Contestants();

}  // namespace soci::bench
