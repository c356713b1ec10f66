// The stopwatch of one run: named points with the traffic at the registry until then, and the bytes that have come,
// sampled ten times a second by a thread of its own. The clock starts with the constructor.
//
// Take() may be called from any thread, once per name: a later call with the same name does nothing.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/result/result.h"
#include "indexer/base/mutex.h"

namespace soci::bench {

class Timeline {
 public:
  using ReadTraffic = std::function<Traffic()>;

  explicit Timeline(ReadTraffic read);
  ~Timeline();

  void Take(const std::string& name) SOCI_EXCLUDES(mutex_);
  // The same point by another name: "fully local" where the pull brings everything.
  void Repeat(const std::string& name, const std::string& as) SOCI_EXCLUDES(mutex_);
  double Seconds() const;
  // In the order of their times.
  std::vector<Point> points() const SOCI_EXCLUDES(mutex_);
  // Ends the sampling; later calls change nothing.
  void Stop();
  std::vector<ByteSample> bytes_over_time() const SOCI_EXCLUDES(mutex_);

 private:
  Traffic Now() const;
  void Run();
  bool Has(const std::string& name) const SOCI_REQUIRES(mutex_);

  const ReadTraffic read_;
  const Traffic before_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable Mutex mutex_;  // a leaf
  CondVar wake_;
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
  std::vector<Point> points_ SOCI_GUARDED_BY(mutex_);
  std::vector<ByteSample> samples_ SOCI_GUARDED_BY(mutex_);
  std::thread thread_;  // last: it uses the above
};

}  // namespace soci::bench
