// `soci-snapshotter record REF -- COMMAND`: the image's record from a command, be its layers lazy or sealed.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/support/lazy_start.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RecordVerb : public LazyStart {
 protected:
  explicit RecordVerb(const std::string& more = "--fetch.neighbours=0") : LazyStart({"--record.enabled=false", more}) {}

  CommandResult Record(const std::vector<std::string>& arguments) const {
    return RunCommand(RecordLine(arguments), std::chrono::seconds(60), containerd_.Options());
  }
  // The paths that the record has, in order of need.
  std::string Needed(const std::string& file) const {
    const CommandResult shown = RunCommand({Daemon::Program("soci-index"), "record", "show", "--extents", file});
    EXPECT_EQ(Failure(shown), "");
    return shown.out;
  }
  // Nothing of a recording is left: no mount, no container.
  void ExpectNothingLeft() const {
    EXPECT_THAT(MountPointsBelow(daemon_.run() + "/r"), IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(daemon_.run() + "/r"));
    EXPECT_THAT(containerd_.Ctr({"containers", "ls", "-q"}).out, Not(HasSubstr("soci-record")));
  }
  static TestImage Image() {
    TarBuilder tar;
    tar.Directory("app");
    for (int i = 0; i < 9; ++i) tar.File("app/" + std::to_string(i), NoiseBytes(200'000, static_cast<uint64_t>(i)));
    return TestImage().Add(GzipLayer(BusyboxTar().Finish())).Add(GzipLayer(tar.Finish()));
  }
  const std::string file_ = sandbox_ / "app.record";
};

TEST_F(RecordVerb, RecordsAnImageThatIsHereAsAWholeAndLeavesOthersAlone) {
  const std::string reference = PushIndexed(Image(), "app");
  PullLazily(reference);
  ASSERT_TRUE(daemon_.WaitUntilSealed());
  // Its layers are plain directories to this one, and it goes on over them.
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "other", {"sh", "-c", "cat /app/5; sleep 600"})), "");
  // What was read before is in the page cache of the directories, and is recorded all the same.
  Output(reference, {"cat", "/app/7", "/app/2"});

  const CommandResult recorded = Record({"--out", file_, reference, "--", "cat", "/app/7", "/app/2"});
  EXPECT_EQ(Failure(recorded), "") << daemon_.Log();
  EXPECT_THAT(recorded.err, HasSubstr("recording ended: the program has ended"));
  const std::string needed = Needed(file_);
  EXPECT_THAT(needed, AllOf(HasSubstr("app/7"), HasSubstr("app/2"), HasSubstr("bin/"), Not(HasSubstr("app/5"))));
  EXPECT_LT(needed.find("app/7"), needed.find("app/2"));
  EXPECT_THAT(daemon_.Log(), HasSubstr("recorded " + reference));
  ExpectNothingLeft();
  const CommandResult alive = containerd_.Exec("other", {"cat", "/app/3"});
  EXPECT_EQ(Failure(alive), "");
  containerd_.RemoveContainer("other");
}

TEST_F(RecordVerb, PullsAnImageThatIsNotHereAndGivesItsOutput) {
  const std::string reference = PushIndexed(Image(), "app");
  const CommandResult recorded = Record({"--out", file_, reference, "--", "sh", "-c", "echo hello; cat /app/4 >&2"});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err << daemon_.Log();
  EXPECT_THAT(recorded.out, AllOf(HasSubstr("hello\n"), HasSubstr(file_)));
  EXPECT_THAT(Needed(file_), HasSubstr("app/4"));
  ExpectNothingLeft();
}

TEST_F(RecordVerb, EndsWhenTheProgramSaysThatItIsReady) {
  const std::string reference = PushIndexed(Image(), "app");
  const std::string program = "cat /app/1 >/dev/null; echo server is ready now; cat /app/8 >/dev/null; sleep 600";
  const CommandResult recorded =
      Record({"--out", file_, "--ready-line", "is ready", "--grace=0", reference, "--", "sh", "-c", program});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("the program said that it is ready"));
  EXPECT_THAT(Needed(file_), HasSubstr("app/1"));
  ExpectNothingLeft();
}

TEST_F(RecordVerb, EndsAfterSecondsOfSilence) {
  const std::string reference = PushIndexed(Image(), "app");
  const CommandResult recorded = Record({"--out", file_, "--seconds-of-silence=1", "--grace=0", reference, "--", "sh",
                                         "-c", "cat /app/1 >/dev/null; sleep 600"});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("has read nothing new for a while"));
  EXPECT_THAT(Needed(file_), HasSubstr("app/1"));
  ExpectNothingLeft();
}

TEST_F(RecordVerb, EndsAtASize) {
  const std::string reference = PushIndexed(Image(), "app");
  const CommandResult recorded = Record({"--out", file_, "--max-size=300KiB", "--grace=0", reference, "--", "sh", "-c",
                                         "cat /app/0 /app/1 /app/2 >/dev/null; sleep 600"});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("as much as a record may hold"));
  ExpectNothingLeft();
}

TEST_F(RecordVerb, EndsWhenItIsTold) {
  const std::string reference = PushIndexed(Image(), "app");
  Process recording(RecordLine({"--out", file_, "--grace=0", reference, "--", "sh", "-c", "cat /app/6; sleep 600"}),
                    sandbox_ / "recording.log", containerd_.Options());
  const std::vector<std::string> stop = {Daemon::Program("soci-snapshotter"), "record", "--stop", "--socket",
                                         daemon_.run() + "/admin.sock"};
  EXPECT_TRUE(WaitUntil([&] { return std::filesystem::exists(sandbox_ / "recording.log"); }));
  // Until the program runs there is nothing to stop.
  EXPECT_TRUE(WaitUntil([&] {
    const std::string log = [&] {
      std::ifstream stream(sandbox_ / "recording.log");
      return std::string(std::istreambuf_iterator<char>(stream), {});
    }();
    return log.find(NoiseBytes(200'000, 6).substr(100'000, 1'000)) != std::string::npos;
  }));
  EXPECT_THAT(RunCommand(stop).out, HasSubstr("1 recordings ended"));
  EXPECT_EQ(recording.Wait(std::chrono::seconds(30)), 0);
  EXPECT_THAT(Needed(file_), HasSubstr("app/6"));
  ExpectNothingLeft();
}

TEST_F(RecordVerb, ACommandThatFailsLeavesNoRecord) {
  const std::string reference = PushIndexed(Image(), "app");
  const CommandResult recorded = Record({"--out", file_, reference, "--", "sh", "-c", "cat /app/1; exit 7"});
  EXPECT_EQ(recorded.exit_code, 1);
  EXPECT_THAT(recorded.err, HasSubstr("the command failed with exit code 7"));
  EXPECT_FALSE(std::filesystem::exists(file_));
  EXPECT_THAT(daemon_.Log(), Not(HasSubstr("recorded " + reference)));
  ExpectNothingLeft();
}

class RecordVerbBesideContainerd : public RecordVerb {
 protected:
  RecordVerbBesideContainerd() : RecordVerb("--pull.unpack=false") {}
};

TEST_F(RecordVerbBesideContainerd, LayersThatContainerdUnpackedAreNamed) {
  const TestImage image = Image();
  const std::string reference = PushIndexed(image, "app", {"--min-layer-size=1500KiB", "--span-size=64KiB"});
  const CommandResult recorded = Record({"--out", file_, reference, "--", "cat", "/app/1"});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.err,
              HasSubstr("layer " + image.layers()[0].digest.ToString() + " was unpacked by containerd: what is read"));
  EXPECT_THAT(Needed(file_), AllOf(HasSubstr("app/1"), Not(HasSubstr("bin/"))));
  ExpectNothingLeft();
}

TEST_F(RecordVerbBesideContainerd, WithoutALayerOfOursThereIsNothingToRecord) {
  const std::string reference = Push(Image(), "plain");
  const CommandResult recorded = Record({"--out", file_, reference, "--", "cat", "/app/1"});
  EXPECT_EQ(recorded.exit_code, 1);
  EXPECT_THAT(recorded.err, HasSubstr("none of the image's layers is ours"));
  EXPECT_FALSE(std::filesystem::exists(file_));
  EXPECT_THAT(containerd_.Ctr({"containers", "ls", "-q"}).out, Not(HasSubstr("soci-record")));
}

}  // namespace
}  // namespace soci::test
