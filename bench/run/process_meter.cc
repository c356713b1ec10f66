#include "bench/run/process_meter.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>

namespace soci::bench {
namespace {

constexpr std::chrono::milliseconds kInterval(100);

std::string ReadProc(pid_t pid, const char* file) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/" + file);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

// The number after "name:" at a line's beginning; 0 if there is none.
uint64_t Field(std::string_view text, std::string_view name) {
  size_t at = text.find(name);
  while (at != std::string_view::npos && at > 0 && text[at - 1] != '\n') at = text.find(name, at + 1);
  if (at == std::string_view::npos) return 0;
  at = text.find_first_of("0123456789\n", at + name.size());
  uint64_t value = 0;
  if (at != std::string_view::npos) std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

// user, system, and those of children that were waited for: fields 14 to 17, the 12th to 15th after the name.
std::optional<double> CpuTicks(std::string_view stat) {
  const size_t after_name = stat.rfind(')');
  if (after_name == std::string_view::npos) return std::nullopt;
  std::istringstream fields{std::string(stat.substr(after_name + 1))};
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double sum = 0, ticks = 0;
  for (int i = 0; i < 4; ++i) {
    if (!(fields >> ticks)) return std::nullopt;
    sum += ticks;
  }
  return sum;
}

}  // namespace

std::optional<ProcessSample> ParseSample(std::string_view stat, std::string_view status, std::string_view io,
                                         long ticks_per_second) {
  const std::optional<double> ticks = CpuTicks(stat);
  if (!ticks) return std::nullopt;
  return ProcessSample{*ticks / static_cast<double>(ticks_per_second), Field(status, "RssAnon:") * 1024,
                       (Field(status, "RssFile:") + Field(status, "RssShmem:")) * 1024, Field(io, "write_bytes:")};
}

std::optional<ProcessSample> SampleProcess(pid_t pid) {
  return ParseSample(ReadProc(pid, "stat"), ReadProc(pid, "status"), ReadProc(pid, "io"), ::sysconf(_SC_CLK_TCK));
}

ProcessMeter::ProcessMeter(std::map<std::string, pid_t> processes) {
  for (const auto& [name, pid] : processes) {
    const ProcessSample now = SampleProcess(pid).value_or(ProcessSample{});
    ones_.push_back({name, pid, now, now, now});
  }
  thread_ = std::thread([this] { Run(); });
}

ProcessMeter::~ProcessMeter() { Stop(); }

void ProcessMeter::Run() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    wake_.WaitFor(mutex_, kInterval);
    Sample();
  }
}

void ProcessMeter::Sample() {
  ProcessSample sum;
  for (One& one : ones_) {
    const std::optional<ProcessSample> now = SampleProcess(one.pid);
    if (!now) continue;
    // A dead process that nobody waited for yet has no memory, and no say in what it wrote.
    one.last.cpu_seconds = std::max(one.last.cpu_seconds, now->cpu_seconds);
    one.last.written_bytes = std::max(one.last.written_bytes, now->written_bytes);
    one.peak.anonymous_bytes = std::max(one.peak.anonymous_bytes, now->anonymous_bytes);
    one.peak.file_bytes = std::max(one.peak.file_bytes, now->file_bytes);
    sum.anonymous_bytes += now->anonymous_bytes;
    sum.file_bytes += now->file_bytes;
  }
  total_.anonymous_bytes = std::max(total_.anonymous_bytes, sum.anonymous_bytes);
  total_.file_bytes = std::max(total_.file_bytes, sum.file_bytes);
}

void ProcessMeter::Stop() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
  for (const One& one : ones_) {
    metered_.push_back({one.name,
                        {one.last.cpu_seconds - one.before.cpu_seconds, one.peak.anonymous_bytes, one.peak.file_bytes,
                         one.last.written_bytes - one.before.written_bytes}});
    total_.cpu_seconds += metered_.back().used.cpu_seconds;
    total_.written_bytes += metered_.back().used.written_bytes;
  }
}

}  // namespace soci::bench
