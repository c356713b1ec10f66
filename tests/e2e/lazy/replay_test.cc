// Record once, replay ahead of the program: with containerd, from the first container to the second pull.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/e2e/support/lazy_start.h"
#include "tests/support/free_port.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;

class Replay : public LazyStart {
 protected:
  explicit Replay(std::vector<std::string> more = {})
      : Replay("127.0.0.1:" + std::to_string(FreePort()), std::move(more)) {}
  Replay(const std::string& address, std::vector<std::string> more)
      : LazyStart([&] {
          std::vector<std::string> flags = OnDemandOnly();
          flags.insert(flags.end(), {"--record.quiet_seconds=1", "--service.metrics=" + address});
          flags.insert(flags.end(), more.begin(), more.end());
          return flags;
        }()),
        address_(address) {}

  double Value(const std::string& name) const { return MetricValue(address_, name); }
  // Compressed, of whole spans, whatever they were wanted for.
  double FetchedBytes() const {
    double bytes = Value("soci_fetched_twice_bytes_total");
    for (const char* fetch_class : {"demand", "replay", "read_ahead", "fill"}) {
      bytes += Value(std::string("soci_fetched_bytes_total{class=\"") + fetch_class + "\"}");
    }
    return bytes;
  }

  // Many files in spans of their own, of which the program reads every third, the last ones first.
  static TestImage Image() {
    TarBuilder tar;
    tar.Directory("app");
    for (int i = 0; i < 90; ++i) tar.File("app/" + std::to_string(i), NoiseBytes(80'000, static_cast<uint64_t>(i)));
    return TestImage().Add(GzipLayer(BusyboxTar().Finish())).Add(GzipLayer(tar.Finish()));
  }
  static std::vector<std::string> Program() {
    return {"sh", "-c",
            "for i in 87 84 81 78 75 72 69 66 63 60 30 27 24 21 18 15 12 9 6 3; do cat /app/$i; done | wc -c"};
  }
  void ForgetEverythingButRecords(const std::string& reference) {
    ASSERT_EQ(Failure(containerd_.RemoveImage(reference)), "");
    ASSERT_TRUE(WaitUntil([&] { return Value("soci_spans") == 0; })) << daemon_.Log();
  }
  bool WaitForRecord() {
    return WaitUntil([&] { return Value("soci_records_made_total") >= 1; });
  }

 private:
  const std::string address_;
};

TEST_F(Replay, TheSecondPullReplaysWhatTheFirstContainerRead) {
  const std::string reference = PushIndexed(Image(), "app");
  PullLazily(reference);
  const std::string output = Output(reference, Program());
  const double first = Value("soci_demand_misses_total");
  EXPECT_GT(first, 20);
  const double recorded_bytes = FetchedBytes();
  ASSERT_TRUE(WaitForRecord()) << daemon_.Log();
  ForgetEverythingButRecords(reference);

  PullLazily(reference);
  ASSERT_TRUE(WaitUntil([&] { return daemon_.Log().find("by its own record") != std::string::npos; }));
  // Everything that was recorded, and no more.
  ASSERT_TRUE(WaitUntil([&] { return Value("soci_fetched_spans_total{class=\"replay\"}") >= first; })) << Status();
  EXPECT_EQ(Output(reference, Program()), output);
  const double second = Value("soci_demand_misses_total") - first;
  EXPECT_LE(second, first / 10) << Status() << daemon_.Log();
  EXPECT_LE(Value("soci_fetched_spans_total{class=\"replay\"}"), first * 1.1);
  EXPECT_GT(FetchedBytes(), recorded_bytes);
  EXPECT_LE(FetchedBytes() - recorded_bytes, recorded_bytes * 1.1) << "no more than the recorded spans";
  EXPECT_GT(Value("soci_replay_needs_total{outcome=\"hit\"}"), first / 2);
  EXPECT_THAT(Status(), HasSubstr("record: own, replay done"));
}

TEST_F(Replay, ARecordOutlivesTheDaemonAndIsUsedByTwoContainersAtOnce) {
  const std::string reference = PushIndexed(Image(), "app");
  PullLazily(reference);
  const std::string output = Output(reference, Program());
  // The daemon's end is the end of recording.
  daemon_.Stop();
  daemon_.Start();
  WaitForSnapshotter();
  ForgetEverythingButRecords(reference);

  PullLazily(reference);
  const auto first = containerd_.StartRun("soci", reference, "one", Program(), sandbox_ / "one.log");
  EXPECT_EQ(Output(reference, Program()), output);
  EXPECT_TRUE(WaitUntil([&] { return !first->Running(); }));
  EXPECT_EQ(Value("soci_replays_total"), 1);
}

TEST_F(Replay, RecordStopEndsRecordingAtOnce) {
  const std::string reference = PushIndexed(Image(), "app");
  PullLazily(reference);
  ASSERT_EQ(
      Failure(containerd_.RunDetached("soci", reference, "long", {"sh", "-c", "cat /app/3 >/dev/null; sleep 60"})), "");
  ASSERT_TRUE(WaitUntil([&] { return Value("soci_demand_misses_total") > 0; }));
  const CommandResult stopped =
      RunCommand({Daemon::Program("soci-snapshotter"), "record", "--stop", "--socket", daemon_.run() + "/admin.sock"});
  EXPECT_EQ(Failure(stopped), "");
  EXPECT_TRUE(WaitForRecord());
  containerd_.RemoveContainer("long");
}

TEST_F(Replay, ARecordThatIsNoneIsToldAndHarmsNothing) {
  const TestImage image = Image();
  const std::string reference = PushIndexed(image, "app");
  const std::string folder = daemon_.state() + "/records/sha256";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/" + image.digest().Hex()) << "not a record";
  PullLazily(reference);
  EXPECT_EQ(Output(reference, {"cat", "/app/3"}), NoiseBytes(80'000, 3));
  EXPECT_THAT(daemon_.Log(), HasSubstr("is not replayed"));
}

}  // namespace
}  // namespace soci::test
