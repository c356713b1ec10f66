#include "bench/work/report.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <thread>

namespace soci::bench {
namespace {

void PrintMilliseconds(const std::vector<double>& values) {
  constexpr size_t kInLine = 100;
  for (size_t begin = 0; begin < values.size(); begin += kInLine) {
    std::string line = "reads_ms";
    for (size_t i = begin; i < std::min(begin + kInLine, values.size()); ++i) {
      char text[32];
      std::snprintf(text, sizeof text, " %.4g", values[i]);
      line += text;
    }
    PrintLine(line);
  }
}

}  // namespace

void PrintLine(const std::string& line) {
  const std::string ended = line + "\n";
  std::string_view rest = ended;
  while (!rest.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (count <= 0) return;
    rest.remove_prefix(static_cast<size_t>(count));
  }
}

void Latencies::Add(std::chrono::duration<double, std::milli> time) {
  const std::lock_guard lock(mutex_);
  milliseconds_.push_back(time.count());
}

void Latencies::Print(size_t most) const {
  const std::lock_guard lock(mutex_);
  std::vector<double> sorted = milliseconds_, chosen;
  std::sort(sorted.begin(), sorted.end());
  const size_t count = std::min(sorted.size(), most);
  for (size_t i = 0; i < count; ++i) {
    chosen.push_back(sorted[count == 1 ? 0 : i * (sorted.size() - 1) / (count - 1)]);
  }
  PrintMilliseconds(chosen);
}

void Latencies::PrintLongest(size_t count) const {
  const std::lock_guard lock(mutex_);
  std::vector<double> sorted = milliseconds_;
  std::sort(sorted.rbegin(), sorted.rend());
  sorted.resize(std::min(sorted.size(), count));
  PrintMilliseconds(sorted);
}

void InParallel(size_t threads, size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;  // of `failure`
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> others;
  for (size_t i = 0; i < threads; ++i) others.emplace_back(run);
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

void Think(std::chrono::microseconds time) {
  const auto used = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  const auto end = used() + time;
  while (used() < end) {
  }
}

}  // namespace soci::bench
