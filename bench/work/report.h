// What a verb tells the benchmark: lines as bench/run/workload_output.h reads them, each written at once. Latencies are
// collected and printed at the end, so that printing does not disturb what is measured. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace soci::bench {

using SteadyTime = std::chrono::steady_clock::time_point;
inline SteadyTime Now() { return std::chrono::steady_clock::now(); }

void PrintLine(const std::string& line);

class Latencies {
 public:
  void Add(std::chrono::duration<double, std::milli> time);
  // At most so many, spread evenly over the sorted ones, least and greatest included: the distribution stays.
  void Print(size_t most = 2000) const;
  // The greatest only.
  void PrintLongest(size_t count) const;

 private:
  mutable std::mutex mutex_;
  std::vector<double> milliseconds_;  // guarded by it
};

// Runs `work` for each number below `count` on so many threads. The first exception ends all and is thrown here.
void InParallel(size_t threads, size_t count, const std::function<void(size_t)>& work);

// Uses that much of the processor on this thread, as a program that computes does.
void Think(std::chrono::microseconds time);

}  // namespace soci::bench
