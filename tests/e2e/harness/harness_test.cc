// The end-to-end harness itself, with containerd's own snapshotter: what it says about others has to be right.
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/support/end_to_end.h"
#include "tests/support/sweep.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {
namespace {

TestImage SmallImage() {
  return TestImage()
      .Add(GzipLayer(BusyboxTar().File("etc/greeting", "hello from a layer\n").File("etc/gone", "x").Finish()))
      .Add(PlainLayer(TarBuilder().Directory("etc").Whiteout("etc/gone").Symlink("etc/link", "greeting").Finish()));
}

class Harness : public EndToEnd {};

TEST_F(Harness, ContainerdPullsAndRunsAGeneratedImageThroughTheLink) {
  const std::string image = Push(SmallImage(), "small");
  ASSERT_EQ(Failure(containerd_.Pull("overlayfs", image)), "");
  const CommandResult result = containerd_.Run("overlayfs", image, "c1", {"cat", "/etc/link"});
  ASSERT_EQ(Failure(result), "");
  EXPECT_EQ(result.out, "hello from a layer\n");
  EXPECT_FALSE(containerd_.Run("overlayfs", image, "c2", {"cat", "/etc/gone"}).ok());
  EXPECT_GT(link_->counters().bytes_down, SmallImage().layers()[0].blob.size());
}

TEST_F(Harness, ExecRunsInADetachedContainer) {
  const std::string image = Push(SmallImage(), "small");
  ASSERT_EQ(Failure(containerd_.Pull("overlayfs", image)), "");
  ASSERT_EQ(Failure(containerd_.RunDetached("overlayfs", image, "c1", {"sleep", "1000"})), "");
  EXPECT_EQ(containerd_.Exec("c1", {"echo", "inside"}).out, "inside\n");
  containerd_.RemoveContainer("c1");
}

TEST_F(Harness, TheRegistryLogCountsEachRequestOnce) {
  const TestImage image = SmallImage();
  const std::string name = Push(image, "small");
  registry_.ForgetRequests();
  ASSERT_EQ(Failure(containerd_.Pull("overlayfs", name)), "");
  for (const ImageLayer& layer : image.layers()) {
    const std::vector<LoggedRequest> gets = registry_.BlobGets(layer.digest.ToString());
    ASSERT_EQ(gets.size(), 1u);
    EXPECT_EQ(gets[0].bytes, layer.blob.size());
  }
  registry_.ForgetRequests();
  EXPECT_EQ(registry_.BlobBytes(), 0u);
}

TEST_F(Harness, TheRegistryComesBackOnItsPort) {
  const std::string image = Push(SmallImage(), "small");
  registry_.Stop();
  EXPECT_FALSE(containerd_.Pull("overlayfs", image).ok());
  registry_.Start();
  EXPECT_EQ(Failure(containerd_.Pull("overlayfs", image)), "");
}

TEST_F(Harness, ImagesThatAreRemovedTakeTheirContentAlong) {
  const std::string image = Push(SmallImage(), "small");
  ASSERT_EQ(Failure(containerd_.Pull("overlayfs", image)), "");
  containerd_.RemoveAllImages();
  EXPECT_EQ(containerd_.Ctr({"content", "ls", "-q"}).out, "");
}

TEST(HarnessSweep, ATestProgramThatIsKilledLeavesNoTemporaryDirectory) {
  TemporaryDirectory base;
  const std::string report = base / "path";
  const pid_t child = ::fork();
  if (child == 0) {
    TemporaryDirectory directory;
    std::ofstream(directory / "file") << "left";
    std::ofstream(report + ".new") << directory.path();
    std::filesystem::rename(report + ".new", report);
    for (;;) ::pause();
  }
  const bool ready = WaitUntil([&] { return std::filesystem::exists(report); }, std::chrono::seconds(60));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(ready);
  std::string path;
  std::ifstream(report) >> path;
  EXPECT_TRUE(WaitUntil([&] { return !std::filesystem::exists(path); }, std::chrono::seconds(60)));
}

// The guardian's case: a test program that is killed in the middle. It is played by a child of this one.
TEST(HarnessSweep, ATestProgramThatIsKilledLeavesNoContainerProcessOrMount) {
  TemporaryDirectory base;
  const std::string report = base / "root";
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("TMPDIR", base.path().c_str(), 1);
    Sandbox sandbox;
    DockerRegistry registry(sandbox);
    Containerd containerd(sandbox, sandbox / "none.sock");
    const std::string image = SmallImage().Push(registry, "small", "v1");
    containerd.Pull("overlayfs", image);
    containerd.RunDetached("overlayfs", image, "c1", {"sleep", "1000"});
    std::filesystem::create_directories(sandbox / "mounted");
    ::mount("none", (sandbox / "mounted").c_str(), "tmpfs", 0, nullptr);
    std::ofstream(report + ".new") << sandbox.root();
    std::filesystem::rename(report + ".new", report);
    for (;;) ::pause();
  }
  const bool ready = WaitUntil([&] { return std::filesystem::exists(report); }, std::chrono::seconds(60));
  std::string root;
  std::ifstream(report) >> root;
  EXPECT_GE(ProcessesNaming(root).size(), 3u);  // registry, containerd, shim
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(ready);
  EXPECT_TRUE(WaitUntil([&] { return !std::filesystem::exists(root); }, std::chrono::seconds(60)));
  EXPECT_TRUE(ProcessesNaming(root).empty());
  EXPECT_TRUE(MountPointsBelow(root).empty());
}

}  // namespace
}  // namespace soci::test
