#include "bench/run/order.h"

namespace soci::bench {

std::vector<Turn> Turns(size_t modes, int repeats) {
  std::vector<Turn> turns;
  for (int repeat = 1; repeat <= repeats; ++repeat) {
    for (size_t i = 0; i < modes; ++i) turns.push_back({repeat % 2 == 1 ? i : modes - 1 - i, repeat});
  }
  return turns;
}

}  // namespace soci::bench
