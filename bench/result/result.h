// What a benchmark measured, raw: every sample of every run, and what it was measured on. Plain values without meaning
// of their own; statistics.h summarises them, codec.h keeps them as JSON.
//
// Times are seconds since the pull request was made, unless a name says otherwise. Traffic is what the registry's side
// of the link saw. A run that failed keeps what it measured until then and says why in `error`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace soci::bench {

struct Traffic {
  uint64_t bytes = 0, requests = 0, connections = 0;
};

// "snapshotter ready", "container created", "first output", "ready", "work finished", "fully local"
struct Point {
  std::string name;
  double seconds = 0;
  Traffic traffic;  // since the pull request
};

struct Resources {
  double daemon_cpu_seconds = 0, client_cpu_seconds = 0;
  uint64_t peak_anonymous_bytes = 0, peak_file_bytes = 0, disk_written_bytes = 0;
};

struct ByteSample {
  double seconds = 0;
  uint64_t bytes = 0;
};

// One of several hosts that began together.
struct HostRun {
  std::vector<Point> points;
  std::string error;
};

struct Run {
  std::string mode;
  int repeat = 0;
  std::vector<Point> points;
  Resources resources;
  std::vector<ByteSample> bytes_over_time;
  std::vector<double> read_milliseconds;
  std::map<std::string, double> counts;  // spans fetched, demand misses, ...: each a cost, less is better
  std::string error;
  // More than one: `points` are then those of the host that was last, traffic and costs are those of all.
  std::vector<HostRun> hosts;
};

// Scenarios of one sweep are named "NAME 5%", "NAME 10%" and so on.
struct Scenario {
  std::string name, image, link, workload;
  uint64_t image_bytes = 0, image_unpacked_bytes = 0;
  std::vector<Run> runs;
  double plain_download_seconds = 0;  // of the image's bytes through the link, to nowhere; 0: not measured
  std::string note = {};              // what to know when reading its figures; empty: nothing
};

struct Environment {
  std::string date, commit, kernel, cpu, containerd, product;
  int cores = 0;
  uint64_t memory_bytes = 0;
  std::map<std::string, std::string> others = {};  // versions of the snapshotters beside ours, by mode
};

struct Calibration {
  std::string link;
  double rate_all = 0, rate_one = 0, delay_ms = 0;  // bytes per second, bytes per second, milliseconds
};

struct Result {
  Environment environment;
  std::vector<Calibration> calibrations;
  std::vector<Scenario> scenarios;
};

}  // namespace soci::bench
