// The README's measurement of an image of one's own, typed as it stands there but for where image and programs are.
#include "tests/e2e/support/readme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "bench/result/codec.h"
#include "tests/e2e/support/daemon.h"
#include "tests/e2e/support/image.h"
#include "tests/e2e/support/process.h"
#include "tests/support/temporary_directory.h"

namespace soci::bench {
namespace {

void Replace(std::string& text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  ASSERT_NE(at, std::string::npos) << what << " is not in: " << text;
  text.replace(at, what.size(), with);
}

// Its /app/train.py is a script of the shell, which goes by the name of python3 there.
test::TestImage TrainingImage() {
  test::TarBuilder base = test::BusyboxTar();
  base.Directory("usr").Directory("usr/bin").File("usr/bin/python3", "#!/bin/sh\nexec sh \"$@\"\n", {.mode = 0755});
  return test::TestImage()
      .Add(test::GzipLayer(base.Finish(), 1))
      .Add(test::GzipLayer(test::TarBuilder()
                               .Directory("app")
                               .File("app/weights", test::NoiseBytes(12 << 20, 1))
                               .File("app/train.py", "cat /app/weights >/dev/null\necho step 1\n")
                               .Finish(),
                           1));
}

TEST(Readme, ItsMeasurementOfAnImageOfOnesOwnRunsAsItStandsThere) {
  const std::vector<std::string> block = test::ReadmeCommands()["Prove it on your own image"];
  ASSERT_EQ(block.size(), 2u);
  EXPECT_EQ(block[0], "./dev build release");  // what made the programs of this test, but for the preset

  test::Sandbox sandbox;
  test::DockerRegistry registry(sandbox);
  const std::string reference = TrainingImage().Push(registry, "team/train", "1.4");
  const test::TemporaryDirectory folder;
  std::string command = block[1];
  Replace(command, "build/release/bin/soci-bench", test::Daemon::Program("soci-bench"));
  Replace(command, test::kImageInReadme, reference);
  // The registry speaks no TLS; and other tests run beside this one.
  command += " --plain-http --warm -n 1 --json result.json";
  const test::CommandResult bench =
      test::RunCommand({"sh", "-c", command}, std::chrono::seconds(120), {{{"TMPDIR", sandbox.root()}}, folder.path()});
  ASSERT_EQ(bench.exit_code, 0) << command << "\n" << bench.out << bench.err;
  EXPECT_GT(std::filesystem::file_size(folder / "gain.html"), 1000u);
  const auto result = ReadResult(folder / "result.json");
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->scenarios.size(), 1u);
  EXPECT_EQ(result->scenarios[0].link, "A");
  std::set<std::string> modes;
  for (const bench::Run& run : result->scenarios[0].runs) {
    EXPECT_EQ(run.error, "") << run.mode;
    const auto is_ready = [](const Point& point) { return point.name == "ready"; };
    EXPECT_TRUE(std::any_of(run.points.begin(), run.points.end(), is_ready)) << run.mode;
    modes.insert(run.mode);
  }
  EXPECT_EQ(modes, (std::set<std::string>{"containerd", "full", "lazy", "local"}));
}

}  // namespace
}  // namespace soci::bench
