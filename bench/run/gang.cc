#include "bench/run/gang.h"

#include <algorithm>
#include <exception>
#include <thread>

namespace soci::bench {

void OnHost(const RunPlan& plan, const std::function<void()>& act) {
  if (plan.hub == nullptr && plan.disk_bytes_per_second == 0) return act();
  std::exception_ptr failure;
  std::thread([&] {
    try {
      if (plan.hub != nullptr) {
        plan.hub->EnterAsHost();
      } else {
        EnterOwnMounts();
      }
      act();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

Run MergeHosts(const std::vector<Run>& hosts) {
  if (hosts.empty()) return {};
  Run merged = hosts[0];
  for (const Run& host : hosts) merged.hosts.push_back({host.points, host.error});
  for (size_t i = 1; i < hosts.size(); ++i) {
    const Run& host = hosts[i];
    std::vector<Point> common;
    for (const Point& point : merged.points) {
      const auto same = std::find_if(host.points.begin(), host.points.end(),
                                     [&](const Point& other) { return other.name == point.name; });
      // A point that one host never reached was not reached.
      if (same != host.points.end()) common.push_back(same->seconds > point.seconds ? *same : point);
    }
    merged.points = std::move(common);
    merged.resources.daemon_cpu_seconds += host.resources.daemon_cpu_seconds;
    merged.resources.client_cpu_seconds += host.resources.client_cpu_seconds;
    merged.resources.peak_anonymous_bytes += host.resources.peak_anonymous_bytes;
    merged.resources.peak_file_bytes += host.resources.peak_file_bytes;
    merged.resources.disk_written_bytes += host.resources.disk_written_bytes;
    for (const auto& [name, value] : host.counts) merged.counts[name] += value;
    merged.read_milliseconds.insert(merged.read_milliseconds.end(), host.read_milliseconds.begin(),
                                    host.read_milliseconds.end());
    if (host.bytes_over_time.size() > merged.bytes_over_time.size()) merged.bytes_over_time = host.bytes_over_time;
    if (merged.error.empty()) merged.error = host.error;
  }
  std::stable_sort(merged.points.begin(), merged.points.end(),
                   [](const Point& one, const Point& other) { return one.seconds < other.seconds; });
  return merged;
}

Run MeasureGang(const RunPlan& plan, int hosts) {
  if (plan.make_cold) plan.make_cold();
  RunPlan one = plan;
  one.make_cold = nullptr;  // it is the whole machine's
  std::vector<Run> runs(static_cast<size_t>(hosts));
  std::vector<std::thread> threads;
  for (Run& run : runs) threads.emplace_back([&one, &run] { run = MeasureRun(one); });
  for (std::thread& thread : threads) thread.join();
  return MergeHosts(runs);
}

}  // namespace soci::bench
