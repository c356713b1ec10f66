#include "bench/demo/course.h"

#include <fstream>
#include <functional>
#include <stdexcept>

#include "tests/e2e/support/containerd.h"
#include "tests/e2e/support/daemon.h"
#include "tests/e2e/support/sandbox.h"

namespace soci::demo {
namespace {

constexpr std::chrono::minutes kMostMinutes(5);

void Check(const test::CommandResult& result, const std::string& what) {
  if (!result.ok()) throw std::runtime_error(what + " failed: " + result.out + result.err);
}

class Stopwatch {
 public:
  explicit Stopwatch(const Link& link) : link_(link), bytes_before_(link.counters().bytes_down) {}
  Milestone Take(std::string name) const {
    const auto time = std::chrono::steady_clock::now() - start_;
    return {std::move(name), std::chrono::duration_cast<std::chrono::milliseconds>(time),
            link_.counters().bytes_down - bytes_before_};
  }

 private:
  const Link& link_;
  const uint64_t bytes_before_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Runs the work and takes a milestone when each of its lines appears.
void RunWork(const test::Sandbox& sandbox, const test::Containerd& containerd, const std::string& snapshotter,
             const std::string& reference, const Stopwatch& stopwatch, std::vector<Milestone>& milestones) {
  const std::string log = sandbox / "output";
  std::unique_ptr<test::Process> run =
      containerd.StartRun(snapshotter, reference, "demo", {"/usr/bin/python3", "/app/work.py"}, log);
  const auto output = [&] {
    std::ifstream stream(log);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  for (const auto& [line, name] :
       {std::pair("hello", "first output"), {"imported", "imports done"}, {"done", "work done"}}) {
    const std::string text = std::string(line);
    const bool came =
        test::WaitUntil([&] { return output().find(text) != std::string::npos || !run->Running(); }, kMostMinutes);
    if (!came || output().find(text) == std::string::npos) throw std::runtime_error("the work failed: " + output());
    milestones.push_back(stopwatch.Take(name));
  }
  if (run->Wait(std::chrono::seconds(60)) != 0) throw std::runtime_error("the work failed: " + output());
}

}  // namespace

Course RunOrdinary(const Link& link, const std::string& reference) {
  test::Sandbox sandbox;
  test::Containerd containerd(sandbox, sandbox / "none.sock");
  Course course{"ordinary", {}};
  const Stopwatch stopwatch(link);
  Check(containerd.Pull("overlayfs", reference), "pull");
  const Milestone pulled = stopwatch.Take("pull");
  course.milestones.push_back(pulled);
  RunWork(sandbox, containerd, "overlayfs", reference, stopwatch, course.milestones);
  course.milestones.push_back({"fully local", pulled.at, pulled.bytes});
  return course;
}

Course RunLazy(const Link& link, const std::string& reference) {
  test::Sandbox sandbox;
  test::Containerd containerd(sandbox, test::Daemon::SocketOf(sandbox));
  test::Daemon daemon(sandbox, {"--containerd.address=" + containerd.address()});
  daemon.UsePlainHttp(reference.substr(0, reference.find('/')));
  Course course{"lazy", {}};
  const Stopwatch stopwatch(link);
  Check(daemon.Pull(containerd, reference), "soci-snapshotter pull");
  course.milestones.push_back(stopwatch.Take("pull"));
  RunWork(sandbox, containerd, "soci", reference, stopwatch, course.milestones);
  if (!daemon.WaitUntilSealed(kMostMinutes))
    throw std::runtime_error("the image does not become local: " + daemon.Log());
  course.milestones.push_back(stopwatch.Take("fully local"));
  containerd.RemoveAllImages();
  return course;
}

}  // namespace soci::demo
