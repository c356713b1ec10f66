// soci-bench as people start it: a real containerd, runc and registry, a small image, and what goes wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "bench/link/link.h"
#include "bench/link/options.h"
#include "bench/result/codec.h"
#include "indexer/base/file_io.h"
#include "indexer/oci/annotations.h"
#include "tests/e2e/support/daemon.h"
#include "tests/e2e/support/image.h"
#include "tests/e2e/support/process.h"
#include "tests/support/free_port.h"
#include "tests/support/sweep.h"
#include "tests/support/temporary_directory.h"

namespace soci::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SociBench : public ::testing::Test {
 protected:
  SociBench() {
    std::filesystem::create_directories(layers());
    AddLayer("base", test::BusyboxTar().Finish());
    AddLayer("data", test::TarBuilder().File("data", test::NoiseBytes(24 << 20, 7)).Finish());
  }

  void AddLayer(const std::string& name, const std::string& tar) {
    std::ofstream(layers() + "/LAYERS", std::ios::app) << name << "\n";
    std::ofstream(layers() + "/" + name + ".tar.gz", std::ios::binary) << test::Gzip(tar, 1);
    std::ofstream(layers() + "/" + name + ".diff_id") << oci::Digest::Of(tar).ToString() << "\n";
  }

  std::string layers() const { return folder_ / "layers"; }
  std::string json() const { return folder_ / "result.json"; }
  // What is in there when the program has ended was left behind.
  std::string scratch() const {
    std::filesystem::create_directories(folder_ / "t");
    return folder_ / "t";
  }

  std::vector<std::string> Line(std::vector<std::string> options) const {
    std::vector<std::string> line = {test::Daemon::Program("soci-bench"),
                                     "run",
                                     "--layers",
                                     layers(),
                                     "--json",
                                     json(),
                                     "--warm",
                                     "--no-calibration",
                                     "--link",
                                     "5ms,50MB/s,80MB/s"};
    line.insert(line.end(), options.begin(), options.end());
    return line;
  }
  test::CommandResult Bench(std::vector<std::string> options) const {
    return test::RunCommand(Line(std::move(options)), std::chrono::seconds(90), {{{"TMPDIR", scratch()}}});
  }
  std::string log() const {
    std::ifstream stream(folder_ / "log");
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }
  // A work that never ends, interrupted as soon as something is said.
  void InterruptAt(const std::string& text, std::vector<std::string> options) const {
    options.insert(options.end(), {"--ready-line", "begun", "--work", "sh -c 'echo begun; sleep 600'"});
    test::Process bench(Line(std::move(options)), folder_ / "log", {{{"TMPDIR", scratch()}}});
    ASSERT_TRUE(test::WaitUntil([&] { return log().find(text) != std::string::npos; }, std::chrono::seconds(60)))
        << log();
    bench.Signal(SIGINT);
    EXPECT_EQ(bench.Wait(std::chrono::seconds(60)), 130) << log();
  }
  // The same for something that would last for hours: that it ends at all is what is tested.
  void InterruptLonely(const std::string& text, const std::vector<std::string>& line) const {
    test::Process bench(line, folder_ / "log", {{{"TMPDIR", scratch()}}});
    ASSERT_TRUE(test::WaitUntil([&] { return log().find(text) != std::string::npos; }, std::chrono::seconds(60)))
        << log();
    bench.Signal(SIGINT);
    EXPECT_EQ(bench.Wait(std::chrono::seconds(60)), 130) << log();
    EXPECT_THAT(log(), HasSubstr("interrupted"));
    EXPECT_THAT(LeftBehind(), IsEmpty());
  }
  void InterruptWhenReady(std::vector<std::string> options) const { InterruptAt("ready after", std::move(options)); }
  Result ReadJson() const {
    auto result = ReadResult(json());
    EXPECT_TRUE(result.ok()) << Message(result.status());
    return result.ok() ? *result : Result();
  }
  std::vector<std::string> LeftBehind() const {
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(scratch())) left.push_back(entry.path());
    for (const int pid : test::ProcessesNaming(scratch())) left.push_back("process " + std::to_string(pid));
    for (const std::string& mount : test::MountPointsBelow(scratch())) left.push_back("mount " + mount);
    return left;
  }

  test::TemporaryDirectory folder_;
};

const Point* Find(const bench::Run& run, const std::string& name) {
  for (const Point& point : run.points) {
    if (point.name == name) return &point;
  }
  return nullptr;
}

std::vector<std::string> ModesOf(const Scenario& scenario) {
  std::vector<std::string> modes;
  for (const bench::Run& run : scenario.runs) modes.push_back(run.mode + std::to_string(run.repeat));
  return modes;
}

TEST_F(SociBench, MeasuresEveryModeInTurns) {
  const test::CommandResult bench = Bench({"-n", "2", "--point", "greeted=hello", "--work",
                                           "sh -c 'echo hello; dd if=/data bs=1024k count=1 of=/dev/null; echo done'"});
  ASSERT_EQ(bench.exit_code, 0) << bench.out << bench.err;
  const Result result = ReadJson();
  ASSERT_EQ(result.scenarios.size(), 1u);
  const Scenario& scenario = result.scenarios[0];
  EXPECT_THAT(ModesOf(scenario),
              ElementsAre("containerd1", "lazy1", "full1", "local1", "local2", "full2", "lazy2", "containerd2"));
  EXPECT_GT(scenario.image_bytes, 24u << 20);
  EXPECT_GT(scenario.image_unpacked_bytes, 24u << 20);
  for (const bench::Run& run : scenario.runs) {
    SCOPED_TRACE(run.mode);
    EXPECT_EQ(run.error, "");
    for (const char* name : {"snapshotter ready", "container created", "first output", "greeted", "ready",
                             "work finished", "fully local"}) {
      EXPECT_NE(Find(run, name), nullptr) << name;
    }
    EXPECT_GT(run.resources.peak_anonymous_bytes, 0u);
    EXPECT_FALSE(run.bytes_over_time.empty());
    const Point* local = Find(run, "fully local");
    ASSERT_NE(local, nullptr);
    const uint64_t all = run.mode == "local" ? 0 : scenario.image_bytes;
    EXPECT_GE(local->traffic.bytes, all);
    EXPECT_LT(local->traffic.bytes, all + all / 10 + 1);
    EXPECT_EQ(local->traffic.requests > 0, run.mode != "local");
    if (run.mode == "lazy") {
      EXPECT_LT(Find(run, "snapshotter ready")->traffic.bytes, scenario.image_bytes / 2);
      EXPECT_GT(run.counts.count("soci_fetched_spans_total{class=\"fill\"}"), 0u);
    }
  }
  EXPECT_THAT(bench.err, HasSubstr("[8/8] run containerd #2"));
  const std::string program = test::Daemon::Program("soci-bench"), kept = folder_ / "kept.json";
  EXPECT_TRUE(test::RunCommand({program, "keep", json(), kept}).ok());
  EXPECT_LT(std::filesystem::file_size(kept), std::filesystem::file_size(json()));
  EXPECT_TRUE(test::RunCommand({program, "guard", folder_ / "kept.json", json()}).ok());
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

// Image S and all modes take minutes, and many more beside other tests on a disk that discards: `./dev test --long` has
// them. Otherwise the same kind of image with 90 MB, which takes the same way through everything.
TEST_F(SociBench, TheShortScenariosRunOnAnImageOfTheirKind) {
  const bool whole = std::getenv("SOCI_TEST_LONG") != nullptr;
  // S is made once for all runs of a build.
  const std::string images = whole ? std::string(SOCI_BINARY_DIR "/images") : folder_ / "images";
  std::ofstream(folder_ / "small.toml") << "bytes = 90_000_000\nfiles = 2000\nlayers = 8\n";
  const std::string program = test::Daemon::Program("soci-bench");
  const test::CommandResult make =
      test::RunCommand({program, "image", "make", whole ? "S" : folder_ / "small.toml", "--out", images + "/S"},
                       std::chrono::minutes(5));
  ASSERT_EQ(make.exit_code, 0) << make.out << make.err;
  std::vector<std::string> line = {
      program, "run",    "--scenario",       "short",  "--images", images,   "-n",
      "1",     "--warm", "--no-calibration", "--json", json(),     "--html", folder_ / "page.html"};
  if (!whole) line.insert(line.end(), {"--mode", "lazy"});  // all modes have a test of their own
  const test::CommandResult bench =
      test::RunCommand(line, std::chrono::seconds(whole ? 1500 : 600), {{{"TMPDIR", scratch()}}});
  ASSERT_EQ(bench.exit_code, 0) << bench.out << bench.err;
  const Result result = ReadJson();
  std::map<std::string, const Scenario*> scenarios;
  for (const Scenario& scenario : result.scenarios) {
    scenarios[scenario.name] = &scenario;
    for (const bench::Run& run : scenario.runs) {
      SCOPED_TRACE(scenario.name + " " + run.mode);
      EXPECT_EQ(run.error, "");
      EXPECT_NE(Find(run, "work finished"), nullptr);
      if (scenario.name != "metadata-storm") {
        EXPECT_FALSE(run.read_milliseconds.empty());
      }
    }
  }
  for (const char* name : {"import-trace", "import-demand", "density 100%", "cold-miss", "metadata-storm"}) {
    ASSERT_TRUE(scenarios.count(name)) << name;
  }
  for (const bench::Run& run : scenarios["import-trace"]->runs) {
    const Point* imports = Find(run, "imports done");
    ASSERT_NE(imports, nullptr) << run.mode;
    EXPECT_NE(Find(run, "fully local"), nullptr) << run.mode;
    std::map<std::string, double> counts = run.counts;
    EXPECT_EQ(counts["soci_fetched_spans_total{class=\"fill\"}"] > 0, run.mode == "lazy") << run.mode;
  }
  const std::string page = *ReadFile(folder_ / "page.html");
  EXPECT_THAT(page, HasSubstr("% of the bytes read")) << "the density curve";
  EXPECT_THAT(page, HasSubstr("latency of reads"));
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, AReplayHasTheRecordOfARunThatIsNotMeasured) {
  const test::CommandResult bench =
      Bench({"-n", "1", "--mode", "lazy,lazy+replay", "--work", "dd if=/data bs=1024k skip=8 count=4 of=/dev/null"});
  ASSERT_EQ(bench.exit_code, 0) << bench.out << bench.err;
  const Result result = ReadJson();
  ASSERT_EQ(result.scenarios.size(), 1u);
  ASSERT_THAT(ModesOf(result.scenarios[0]), ElementsAre("lazy1", "lazy+replay1"));
  std::vector<bench::Run> runs = result.scenarios[0].runs;
  EXPECT_EQ(runs[0].counts["soci_replays_total"], 0);
  EXPECT_EQ(runs[1].counts["soci_replays_total"], 1);
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, SeveralHostsShareOneLink) {
  const test::CommandResult bench =
      Bench({"--mode", "lazy", "-n", "2", "--hosts", "2", "--work", "sh -c 'cat /data | wc -c'"});
  ASSERT_EQ(bench.exit_code, 0) << bench.out << bench.err;
  const Result result = ReadJson();
  ASSERT_EQ(result.scenarios.size(), 1u);
  ASSERT_EQ(result.scenarios[0].runs.size(), 2u);
  EXPECT_EQ(result.scenarios[0].runs[1].error, "") << "the first hosts' cables may still be there";
  const bench::Run& run = result.scenarios[0].runs[0];
  const Point* local = Find(run, "fully local");
  ASSERT_NE(local, nullptr);
  EXPECT_GE(local->traffic.bytes, 2 * (24u << 20));
  ASSERT_EQ(run.hosts.size(), 2u);
  for (const HostRun& host : run.hosts) EXPECT_EQ(host.points.size(), run.points.size()) << host.error;
  EXPECT_THAT(bench.out, HasSubstr("of the hosts that began together"));
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, SeveralHostsThatAreInterruptedLeaveNothing) {
  ASSERT_NO_FATAL_FAILURE(InterruptWhenReady({"--mode", "lazy", "--hosts", "2"}));
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

// A time is compared with what is physically needed, never with what a machine should manage.
TEST_F(SociBench, ADiskThatIsLimitedTakesItsTime) {
  if (!std::filesystem::exists("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")) {
    const test::CommandResult refused = Bench({"--link", "0ms,0,0,disk=8MB/s", "--work", "true"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("a disk cannot be limited here"));
    return;
  }
  const test::CommandResult bench = Bench(
      {"--mode", "full", "-n", "1", "--link", "0ms,0,0,disk=8MB/s", "--work", "sh -c 'cat /data >/dev/null; sync'"});
  ASSERT_EQ(bench.exit_code, 0) << bench.out << bench.err;
  const Result result = ReadJson();
  EXPECT_GT(Find(result.scenarios.at(0).runs.at(0), "work finished")->seconds, 24.0 * (1 << 20) / 8e6 * 0.8);
  EXPECT_THAT(LeftBehind(), IsEmpty());
  std::ifstream rules("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(rules), {}).find("8000000"), std::string::npos);
}

TEST_F(SociBench, AnImageOfARegistryIsCopiedAndMeasured) {
  test::Sandbox sandbox;
  test::DockerRegistry registry(sandbox);
  test::TestImage image;
  image.Add(test::GzipLayer(test::BusyboxTar().Finish(), 1));
  const std::string reference = image.Push(registry, "team/busybox", "v1");
  const test::CommandResult bench =
      test::RunCommand({test::Daemon::Program("soci-bench"), "run", reference, "--plain-http", "--mode", "containerd",
                        "-n", "1", "--warm", "--no-calibration", "--json", json(), "--work", "echo hello"},
                       std::chrono::seconds(90), {{{"TMPDIR", scratch()}}});
  ASSERT_EQ(bench.exit_code, 0) << bench.out << bench.err;
  const Result result = ReadJson();
  ASSERT_EQ(result.scenarios.size(), 1u);
  EXPECT_EQ(result.scenarios[0].image, reference);
  EXPECT_EQ(result.scenarios[0].image_bytes, image.layers()[0].blob.size());

  const test::CommandResult none =
      Bench({registry.host() + "/no/such:v1", "--plain-http", "--mode", "local", "-n", "1", "--work", "true"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr(registry.host() + "/no/such:v1"));
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, AnImageThatNeverGetsReadyIsGivenUpInTime) {
  const test::CommandResult bench = Bench({"--mode", "lazy", "-n", "1", "--limit", "4", "--ready-line", "never",
                                           "--work", "sh -c 'echo begun; sleep 600'"});
  EXPECT_EQ(bench.exit_code, 1);
  EXPECT_THAT(bench.err, HasSubstr("FAILED: the work was ready not within 4 s"));
  const Result result = ReadJson();
  ASSERT_EQ(result.scenarios.size(), 1u);
  ASSERT_EQ(result.scenarios[0].runs.size(), 1u);
  EXPECT_NE(Find(result.scenarios[0].runs[0], "first output"), nullptr) << "what was measured is kept";
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, WorkThatFailsSaysHow) {
  const test::CommandResult bench =
      Bench({"--mode", "local", "-n", "1", "--work", "sh -c 'echo no such weights >&2; exit 3'"});
  EXPECT_EQ(bench.exit_code, 1);
  EXPECT_THAT(bench.err, HasSubstr("the work failed with exit code 3: no such weights"));
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, AServerIsReadyWhenItsPortIsOpen) {
  const test::CommandResult bench =
      Bench({"--mode", "lazy", "-n", "1", "--ready-port", std::to_string(test::FreePort()), "--work", "sleep 1"});
  EXPECT_EQ(bench.exit_code, 1);
  EXPECT_THAT(bench.err, HasSubstr("the work ended and was never ready"));
}

TEST_F(SociBench, AServerIsReadyWhenItAnswersWith200) {
  const std::string port = std::to_string(test::FreePort());
  const test::CommandResult bench =
      Bench({"--mode", "lazy", "-n", "1", "--limit", "60", "--ready-http", "http://127.0.0.1:" + port + "/data",
             "--work", "/bin/busybox httpd -f -h / -p " + port});
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  const Result result = ReadJson();
  EXPECT_NE(Find(result.scenarios.at(0).runs.at(0), "ready"), nullptr);
  EXPECT_EQ(Find(result.scenarios.at(0).runs.at(0), "work finished"), nullptr) << "it does not end by itself";
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, ThisMachinesContainerdIsLeftAsItWas) {
  test::Sandbox sandbox;
  const test::Containerd containerd(sandbox, sandbox / "none.sock");
  const test::CommandResult bench = Bench(
      {"--mode", "containerd", "-n", "2", "--containerd", containerd.address(), "--work", "sh -c 'cat /data | wc -c'"});
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  EXPECT_GT(Find(ReadJson().scenarios.at(0).runs.at(1), "fully local")->traffic.bytes, 24u << 20)
      << "the second run begins from nothing too";
  EXPECT_EQ(test::RunCommand({"ctr", "--address", containerd.address(), "namespaces", "ls", "-q"}).out, "");
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, OptionsWithoutSenseAreRefusedInOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--mode", "magic", "--work", "true"}, "no mode and no snapshotter is known as \"magic\""},
      {{"--snapshotter", "none.toml", "--work", "true"}, "none.toml"},
      {{"--link", "fast", "--work", "true"}, "link: \"fast\""},
      {{"--work", "sh -c 'x"}, "a quote is not closed"},
      {{"--work", "true", "--ready-port", "80", "--ready-line", "x"}, "exclude each other"},
      {{"--work", "true", "--point", "x"}, "is no NAME=TEXT"},
      {{"--work", "true", "--scenario", "fastest"}, "no scenario is called \"fastest\""},
      {{"--work", "true", "--scenario", "demo", "--link", "slow"}, "link: \"slow\""},
      {{"--work", "true", "--scenario", "demo", "--images", "nowhere"},
       "needs the image demo, which is not in nowhere"}};
  for (const auto& [options, error] : cases) {
    const test::CommandResult bench = Bench(options);
    EXPECT_EQ(bench.exit_code, 2) << error;
    EXPECT_THAT(bench.err, HasSubstr(error));
  }
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, WithoutContainerdEveryRunSaysSo) {
  const test::CommandResult bench =
      Bench({"--mode", "containerd", "-n", "1", "--containerd", folder_ / "none.sock", "--work", "true"});
  EXPECT_EQ(bench.exit_code, 1);
  EXPECT_THAT(bench.err, HasSubstr("no containerd answers at " + (folder_ / "none.sock")));
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

// Before minutes of copying and measuring.
TEST_F(SociBench, WhatTheMachineLacksIsToldAtOnce) {
  const test::CommandResult nowhere = Bench({"--html", folder_ / "none/page.html", "--work", "true"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_EQ(nowhere.err,
            "soci-bench: " + (folder_ / "none/page.html") + " cannot be written: is there such a folder?\n");
  const test::CommandResult bare =
      test::RunCommand(Line({"--work", "true"}), std::chrono::seconds(60), {{{"PATH", "/nonexistent"}}});
  EXPECT_EQ(bare.exit_code, 1);
  EXPECT_EQ(bare.err, "soci-bench: run: there is no docker-registry; it needs containerd, runc and docker-registry\n");
  EXPECT_EQ(nowhere.out + bare.out, "");
}

TEST_F(SociBench, InterruptedBeforeTheFirstRunItSaysSoAndLeavesNothing) {
  ASSERT_NO_FATAL_FAILURE(InterruptAt("pushing", {"--mode", "lazy"}));
  EXPECT_THAT(log(), HasSubstr("soci-bench: interrupted"));
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, InterruptedWhileTheLinkIsCalibratedItEndsAndLeavesNothing) {
  InterruptLonely("calibrating", {test::Daemon::Program("soci-bench"), "run", "--layers", layers(), "--warm", "--link",
                                  "5ms,10kB/s,10kB/s", "--work", "true"});
}

TEST_F(SociBench, InterruptedWhileAnImageIsCopiedItEndsAndLeavesNothing) {
  test::Sandbox sandbox;
  test::DockerRegistry registry(sandbox);
  test::TestImage image;
  image.Add(test::StoredLayer(test::NoiseBytes(24 << 20, 1), std::string(oci::kMediaTypeLayerGzip), ""));
  const std::string path = image.Push(registry, "team/large", "v1").substr(registry.host().size());
  LinkOptions options = *ParseLink("1ms,10kB/s,10kB/s");
  options.upstream_port = registry.port();
  const auto link = Link::Start(options);
  ASSERT_TRUE(link.ok()) << link.status();
  const std::string reference = "127.0.0.1:" + std::to_string((*link)->port()) + path;
  InterruptLonely("copying", {test::Daemon::Program("soci-bench"), "run", reference, "--plain-http", "--warm",
                              "--no-calibration", "--work", "true"});
}

TEST_F(SociBench, InterruptedWhileTheBytesAreDownloadedPlainlyItEndsAndLeavesNothing) {
  InterruptLonely("downloading the image's bytes",
                  {test::Daemon::Program("soci-bench"), "run", "--layers", layers(), "--warm", "--link",
                   "1ms,100MB/s,200MB/s,stall=100%,stall-for=3600s", "--work", "true"});
}

TEST_F(SociBench, ASnapshotterThatDoesNotStartIsTheRunsError) {
  std::ofstream(folder_ / "peer.toml") << "snapshotter = \"peer\"\nsocket = \"{run}/p.sock\"\n"
                                       << "daemon = \"sh -c 'echo out of luck; exit 1' {run}/\"\n";
  const test::CommandResult bench =
      Bench({"--mode", "local", "--snapshotter", folder_ / "peer.toml", "-n", "1", "--work", "true"});
  EXPECT_EQ(bench.exit_code, 1);
  EXPECT_THAT(bench.err, HasSubstr("peer #1: FAILED: the snapshotter's daemon does not start: out of luck"));
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, APeerWhoseImageCannotBePreparedFailsAlone) {
  std::ofstream(folder_ / "peer.toml") << "snapshotter = \"overlayfs\"\nmode = \"peer\"\n"
                                       << "setup = [\"sh -c 'touch $TMPDIR/rest; echo no converter; exit 4'\"]\n";
  const test::CommandResult bench =
      Bench({"--mode", "local", "--snapshotter", folder_ / "peer.toml", "-n", "1", "--work", "true"});
  EXPECT_EQ(bench.exit_code, 1);
  EXPECT_THAT(bench.err, HasSubstr("failed with exit code 4: no converter"));
  const Result result = ReadJson();
  ASSERT_EQ(result.scenarios.at(0).runs.size(), 2u);
  EXPECT_EQ(result.scenarios[0].runs[0].error, "");
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

TEST_F(SociBench, AnInterruptedBenchmarkKeepsWhatItHasAndLeavesNothing) {
  ASSERT_NO_FATAL_FAILURE(InterruptWhenReady({"--mode", "lazy", "-n", "5"}));
  const Result result = ReadJson();
  ASSERT_EQ(result.scenarios.size(), 1u);
  ASSERT_EQ(result.scenarios[0].runs.size(), 1u);
  EXPECT_THAT(result.scenarios[0].runs[0].error, HasSubstr("interrupted"));
  EXPECT_NE(Find(result.scenarios[0].runs[0], "ready"), nullptr);
  EXPECT_THAT(LeftBehind(), IsEmpty());
}

}  // namespace
}  // namespace soci::bench
