// What processes cost while they run: processor time, the most memory, bytes written. Read from /proc ten times a
// second, by a thread of its own, from the constructor to Stop().
//
// Processor time and written bytes count from the constructor on and include children that were waited for (an
// external gzip, for example); memory is that of the processes themselves, added up at each sample. A process that ends
// keeps what its last sample said. Any thread may read after Stop().
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "indexer/base/mutex.h"

namespace soci::bench {

struct ProcessSample {
  double cpu_seconds = 0;
  uint64_t anonymous_bytes = 0, file_bytes = 0, written_bytes = 0;
};

// The pure part: the texts of /proc/PID/stat, status and io.
std::optional<ProcessSample> ParseSample(std::string_view stat, std::string_view status, std::string_view io,
                                         long ticks_per_second);
// Nothing if there is no such process.
std::optional<ProcessSample> SampleProcess(pid_t pid);

class ProcessMeter {
 public:
  struct Metered {
    std::string name;
    ProcessSample used;  // memory: its own peak
  };

  explicit ProcessMeter(std::map<std::string, pid_t> processes);
  ~ProcessMeter();

  void Stop();
  const std::vector<Metered>& processes() const { return metered_; }
  // All together; the memory peaks are of the sum.
  const ProcessSample& total() const { return total_; }

 private:
  struct One {
    std::string name;
    pid_t pid;
    ProcessSample before;
    ProcessSample last;
    ProcessSample peak;
  };
  void Sample();
  void Run();

  std::vector<One> ones_;
  std::vector<Metered> metered_;
  ProcessSample total_;
  Mutex mutex_;  // a leaf
  CondVar wake_;
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the above
};

}  // namespace soci::bench
