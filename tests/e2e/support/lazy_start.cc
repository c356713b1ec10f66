#include "tests/e2e/support/lazy_start.h"

#include <stdexcept>

#include "tests/e2e/support/http.h"

namespace soci::test {

std::vector<std::string> OnDemandOnly() { return {"--fetch.fill=false", "--fetch.neighbours=0"}; }

LazyStart::LazyStart(std::vector<std::string> daemon_flags)
    : daemon_(sandbox_, [&] {
        daemon_flags.push_back("--containerd.address=" + containerd_.address());
        return daemon_flags;
      }()) {
  daemon_.UsePlainHttp("127.0.0.1:" + std::to_string(link_->port()));
  WaitForSnapshotter();
}

void LazyStart::WaitForSnapshotter() {
  // containerd answers a list that is empty by itself.
  const auto snapshots = [this](const std::string& verb) {
    return containerd_.Ctr({"snapshots", "--snapshotter", "soci", verb, "probe"}).ok();
  };
  if (WaitUntil([&] { return snapshots("prepare") && snapshots("rm"); })) return;
  throw std::runtime_error("containerd does not reach the snapshotter: " + daemon_.Log());
}

std::string LazyStart::PushIndexed(const TestImage& image, const std::string& repository,
                                   std::vector<std::string> flags) {
  const std::string reference = Push(image, repository);
  EXPECT_EQ(Failure(CreateIndex(reference, flags)), "");
  registry_.ForgetRequests();
  return reference;
}

void LazyStart::PullLazily(const std::string& reference) {
  ASSERT_EQ(Failure(daemon_.Pull(containerd_, reference)), "") << daemon_.Log();
}

std::string LazyStart::Output(const std::string& reference, std::vector<std::string> command) {
  const CommandResult result =
      containerd_.Run("soci", reference, "c" + std::to_string(++containers_), std::move(command));
  EXPECT_EQ(Failure(result), "") << daemon_.Log();
  return result.out;
}

std::unique_ptr<Process> LazyStart::FreezeUnder(const std::string& container, std::vector<std::string> command) {
  registry_.Freeze();
  const uint64_t asked = link_->counters().bytes_up;
  auto reader = containerd_.StartExec(container, std::move(command), sandbox_ / "output");
  EXPECT_TRUE(WaitUntil([&] { return link_->counters().bytes_up > asked; }));
  return reader;
}

std::vector<std::string> LazyStart::LayerStates() {
  std::vector<std::string> states;
  for (const Daemon::Layer& layer : daemon_.Layers()) states.push_back(layer.digest + ": " + layer.state);
  return states;
}

std::string LazyStart::StateOf(const ImageLayer& layer) {
  for (const Daemon::Layer& known : daemon_.Layers()) {
    if (known.digest == layer.digest.ToString()) return known.state;
  }
  return "unknown";
}

std::string LazyStart::Status() const {
  return RunCommand({Daemon::Program("soci-snapshotter"), "status", "--socket", daemon_.run() + "/admin.sock"}).out;
}

std::vector<std::string> LazyStart::RecordLine(const std::vector<std::string>& arguments) const {
  std::vector<std::string> line = {Daemon::Program("soci-snapshotter"),
                                   "record",
                                   "--plain-http",
                                   "--containerd",
                                   containerd_.address(),
                                   "--namespace",
                                   containerd_.name_space(),
                                   "--ctr",
                                   Containerd::Program("ctr"),
                                   "--socket",
                                   daemon_.run() + "/admin.sock"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

double MetricValue(const std::string& address, const std::string& name) {
  const std::string page = "\n" + HttpRequest("GET", "http://" + address + "/metrics").body;
  const size_t at = page.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(page.substr(at + name.size() + 2));
}

}  // namespace soci::test
