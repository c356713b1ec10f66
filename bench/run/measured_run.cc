#include "bench/run/measured_run.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/run/child.h"
#include "bench/run/gang.h"
#include "bench/run/limited_disk.h"
#include "bench/run/local_watch.h"
#include "bench/run/metrics_text.h"
#include "bench/run/process_meter.h"
#include "bench/run/workload_output.h"
#include "tests/e2e/support/http.h"
#include "tests/e2e/support/sandbox.h"

namespace soci::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience(50), kProbeInterval(5);
constexpr std::chrono::hours kMostSetUp(2);
constexpr char kContainer[] = "work";

// Everything of a run waits through this: nothing outlasts the limit, or Ctrl-C.
class Limit {
 public:
  Limit(std::chrono::seconds limit, std::stop_token stop) : seconds_(limit.count()), stop_(std::move(stop)) {}

  void Check(const std::string& what) const {
    if (stop_.stop_requested()) throw std::runtime_error("interrupted before " + what);
    if (SteadyClock::now() > end_) throw std::runtime_error(fmt::format("{} not within {} s", what, seconds_));
  }
  void AwaitEnd(Child& child, const std::string& what) const {
    while (!child.ended()) {
      child.Wait(kPatience);
      if (!child.ended()) Check(what + " ended");
    }
  }
  // The same, and it has to succeed.
  void AwaitSuccess(Child& child, const std::string& what) const {
    AwaitEnd(child, what);
    if (child.exit_code() != 0) {
      throw std::runtime_error(
          fmt::format("{} failed with exit code {}: {}", what, child.exit_code(), LastLine(child.output())));
    }
  }

 private:
  const int64_t seconds_;
  const std::stop_token stop_;
  const SteadyClock::time_point end_ = SteadyClock::now() + std::chrono::seconds(seconds_);
};

// What a plan does to a run on purpose, each once. What it took away it gives back, at the latest when it ends.
class Trouble {
 public:
  Trouble(const RunPlan& plan, Host& host) : plan_(plan), host_(host) {}
  ~Trouble() { BringBack(); }
  Trouble(const Trouble&) = delete;
  Trouble& operator=(const Trouble&) = delete;

  void Make(const std::string& output, Timeline& timeline) {
    if (IsTime(plan_.kill_daemon_at, output, killed_)) {
      host_.KillDaemon();
      timeline.Take("daemon killed and back");
    }
    if (IsTime(plan_.upgrade_daemon_at, output, upgraded_)) {
      host_.UpgradeDaemon();
      timeline.Take("daemon upgraded");
    }
    if (plan_.set_registry_down && IsTime(plan_.registry_down_at, output, down_)) {
      timeline.Take("registry down");
      plan_.set_registry_down(true);
      away_ = true;
      back_at_ = SteadyClock::now() + plan_.down_for;
    }
    if (away_ && SteadyClock::now() >= back_at_) {
      BringBack();
      timeline.Take("registry back");
    }
  }

 private:
  static bool IsTime(const std::string& text, const std::string& output, bool& done) {
    return !text.empty() && !done && (done = HasLineWith(output, text));
  }
  void BringBack() {
    if (away_) plan_.set_registry_down(false);
    away_ = false;
  }

  const RunPlan& plan_;
  Host& host_;
  bool killed_ = false, upgraded_ = false, down_ = false;
  bool away_ = false;  // the registry, now
  SteadyClock::time_point back_at_;
};

class Measurement {
 public:
  Measurement(const RunPlan& plan, Run& run)
      : plan_(plan),
        run_(run),
        limit_(plan.limit, plan.stop),
        sandbox_([this](const std::string& left) { Say("left behind and removed: " + left); }) {}

  void Perform() {
    if (plan_.disk_bytes_per_second > 0) disk_.emplace(sandbox_, plan_.disk_bytes_per_second);
    if (plan_.make_cold) plan_.make_cold();
    ImageAddress image = plan_.contestant.pulled_before ? plan_.direct : plan_.image;
    Host host(sandbox_, plan_.contestant, image, plan_.host);
    image.reference += plan_.contestant.image_suffix;
    if (plan_.contestant.pulled_before) BringBefore(host);
    ProcessMeter meter(host.processes());
    Timeline timeline(plan_.traffic);
    try {
      std::optional<LocalWatch> local;
      if (!plan_.contestant.pulled_before) Pull(host, timeline);
      timeline.Take("snapshotter ready");
      Say(fmt::format("pulled after {:.2f} s", timeline.Seconds()));
      local.emplace(plan_.contestant, host, timeline);
      RunContainer(host, image.reference, timeline);
      if (!plan_.save_records.empty()) host.SaveRecords(plan_.save_records);
      if (plan_.wait_until_local && local->possible()) {
        while (!local->done()) {
          limit_.Check("the image became local");
          std::this_thread::sleep_for(kPatience);
        }
      }
    } catch (const std::exception& error) {
      run_.error = error.what();
    }
    timeline.Stop();
    meter.Stop();
    Record(timeline, meter, host);
  }

 private:
  void Say(const std::string& text) const {
    if (plan_.say) plan_.say(text);
  }

  // The pull that is not measured; afterwards nothing of the image is in memory.
  void BringBefore(Host& host) {
    Child pull(host.Line(plan_.contestant.pull), host.environment());
    limit_.AwaitSuccess(pull, "the pull beforehand");
    host.RestartContainerd([this] {
      if (plan_.make_cold) plan_.make_cold();
    });
  }

  void Pull(const Host& host, const Timeline&) {
    Child pull(host.Line(plan_.contestant.pull), host.environment());
    limit_.AwaitSuccess(pull, "the pull");
    run_.resources.client_cpu_seconds += pull.cpu_seconds();
  }

  std::vector<std::string> CreateLine(const Host& host, const std::string& reference) const {
    std::vector<std::string> arguments = {"containers", "create"};
    if (plan_.workload.shares_network()) arguments.push_back("--net-host");
    for (const std::string& mount : plan_.workload.mounts) arguments.insert(arguments.end(), {"--mount", mount});
    // Last, a flag with a value: after one without, ctr would take the "--" for its value.
    arguments.insert(arguments.end(), {"--snapshotter", plan_.contestant.snapshotter});
    arguments.insert(arguments.end(), {"--", reference, kContainer});
    arguments.insert(arguments.end(), plan_.workload.command.begin(), plan_.workload.command.end());
    return host.CtrLine(std::move(arguments));
  }

  void RunContainer(Host& host, const std::string& reference, Timeline& timeline) {
    Child create(CreateLine(host, reference), host.environment());
    limit_.AwaitSuccess(create, "creating the container");
    timeline.Take("container created");
    Child task(host.CtrLine({"tasks", "start", "--fifo-dir", sandbox_ / "fifo", kContainer}), host.environment());
    const bool ready = Watch(host, task, timeline);
    run_.resources.client_cpu_seconds += create.cpu_seconds() + task.cpu_seconds();
    ReadWorkloadOutput(task.output(), run_);
    const bool stopped = ready && plan_.workload.stop_when_ready;
    if (task.exit_code() != 0 && !stopped) {
      throw std::runtime_error(
          fmt::format("the work failed with exit code {}: {}", task.exit_code(), LastLine(task.output())));
    }
    if (!ready) throw std::runtime_error("the work ended and was never ready: " + LastLine(task.output()));
  }

  bool IsReady(const Child& task) const {
    switch (plan_.workload.ready) {
      case Workload::Ready::kLine:
        return HasLineWith(task.output(), plan_.workload.line);
      case Workload::Ready::kPort:
        return PortIsOpen(plan_.workload.port);
      case Workload::Ready::kHttp:
        return AnswersWith200(plan_.workload.port, plan_.workload.path);
      case Workload::Ready::kEnd:
        break;
    }
    return task.ended() && task.exit_code() == 0;
  }

  // Until the work ends by itself, or is ready and not expected to. Whether it was ready.
  bool Watch(Host& host, Child& task, Timeline& timeline) {
    bool ready = false;
    Trouble trouble(plan_, host);
    const bool probed = plan_.workload.shares_network();
    while (!task.ended()) {
      task.Wait(probed && !ready ? kProbeInterval : kPatience);
      if (!task.output().empty()) timeline.Take("first output");
      trouble.Make(task.output(), timeline);
      for (const Mark& mark : plan_.workload.marks) {
        if (HasLineWith(task.output(), mark.line)) timeline.Take(mark.name);
      }
      if (task.ended() && task.exit_code() == 0) timeline.Take("work finished");
      if (!ready && (ready = IsReady(task))) {
        timeline.Take("ready");
        Say(fmt::format("ready after {:.2f} s", timeline.Seconds()));
        if (plan_.workload.stop_when_ready && !task.ended()) {
          test::RunCommand(host.CtrLine({"tasks", "kill", "--signal", "SIGKILL", kContainer}));
        }
      }
      if (!task.ended()) limit_.Check(ready ? "the work finished" : "the work was ready");
    }
    return ready;
  }

  void Record(const Timeline& timeline, const ProcessMeter& meter, const Host& host) {
    run_.points = timeline.points();
    run_.bytes_over_time = timeline.bytes_over_time();
    run_.resources.daemon_cpu_seconds = meter.total().cpu_seconds;
    run_.resources.peak_anonymous_bytes = meter.total().anonymous_bytes;
    run_.resources.peak_file_bytes = meter.total().file_bytes;
    run_.resources.disk_written_bytes = meter.total().written_bytes;
    if (plan_.contestant.local != Contestant::Local::kByStatus) return;
    try {
      const auto page = test::HttpRequest("GET", fmt::format("http://127.0.0.1:{}/metrics", host.metrics_port()));
      for (const auto& [name, value] : ParseMetrics(page.body, "soci_")) {
        const bool counter = name.substr(0, name.find('{')).find("_total") != std::string::npos;
        if (counter) run_.counts[name] = value;
      }
    } catch (const std::exception&) {
      // A daemon that died has nothing to say; the run's error tells.
    }
  }

  const RunPlan& plan_;
  Run& run_;
  const Limit limit_;
  test::Sandbox sandbox_;
  std::optional<LimitedDisk> disk_;  // under all that the sandbox holds
};

}  // namespace

Run MeasureRun(const RunPlan& plan) {
  Run run;
  run.mode = plan.contestant.mode;
  run.repeat = plan.repeat;
  try {
    OnHost(plan, [&] { Measurement(plan, run).Perform(); });
  } catch (const std::exception& error) {
    if (run.error.empty()) run.error = error.what();
  }
  std::replace(run.error.begin(), run.error.end(), '\n', ' ');
  return run;
}

void SetUp(const RunPlan& plan) {
  if (plan.contestant.setup.empty()) return;
  OnHost(plan, [&plan] {
    const Limit limit(kMostSetUp, plan.stop);  // it is not measured, and converting a large image takes its time
    test::Sandbox sandbox([](const std::string&) {});
    const Host host(sandbox, plan.contestant, plan.direct, plan.host);
    for (const std::string& line : plan.contestant.setup) {
      Child child(host.Line(line), host.environment());
      limit.AwaitSuccess(child, fmt::format("{}: \"{}\"", plan.contestant.mode, line));
    }
  });
}

}  // namespace soci::bench
