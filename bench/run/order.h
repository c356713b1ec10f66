// Which mode runs when. Pure.
//
// Modes take turns within a repeat and every other repeat goes backwards (A B C D, D C B A, A B ...): what drifts while
// a benchmark runs, such as a disk that fills or a machine that warms up, falls on all of them alike.
#pragma once

#include <cstddef>
#include <vector>

namespace soci::bench {

struct Turn {
  size_t mode = 0;
  int repeat = 0;  // from 1
};

std::vector<Turn> Turns(size_t modes, int repeats);

}  // namespace soci::bench
