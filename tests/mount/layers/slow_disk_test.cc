// A disk that takes nothing for a while: whoever reads does not notice, and what was read or filled is kept later.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "indexer/base/file_io.h"
#include "tests/layers/tree.h"
#include "tests/lazy/lazy_mount.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::TarBuilder;

// Every write to the file system waits as long as this lives. A child thaws it, also when this process is killed: its
// threads in a write cannot end before.
class Frozen {
 public:
  explicit Frozen(const std::string& mount_point) : folder_(*OpenFile(mount_point, O_RDONLY | O_DIRECTORY)) {
    sigset_t wanted, before;
    ::sigemptyset(&wanted);
    ::sigaddset(&wanted, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &wanted, &before);
    child_ = ::fork();
    if (child_ == 0) {
      int signal = 0;
      if (::prctl(PR_SET_PDEATHSIG, SIGTERM) == 0) ::sigwait(&wanted, &signal);
      ::ioctl(folder_.get(), FITHAW, 0);
      ::_exit(0);
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    frozen_ = ::ioctl(folder_.get(), FIFREEZE, 0) == 0;
  }
  ~Frozen() {
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
  }
  explicit operator bool() const { return frozen_; }

 private:
  const UniqueFd folder_;
  pid_t child_ = -1;
  bool frozen_ = false;
};

class SlowDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
    const std::string image = root_ / "image", folder = root_ / "lazy";
    disk_ = folder + "/layer";
    std::filesystem::create_directories(disk_);
    std::ofstream(image).close();
    std::filesystem::resize_file(image, 64 << 20);
    const std::string made = "mkfs.ext4 -q -F '" + image + "' && mount -o loop '" + image + "' '" + disk_ + "'";
    if (std::system(made.c_str()) != 0) GTEST_SKIP() << "needs mkfs.ext4 and loop devices";  // NOLINT: a test's path
    FetchSchedulerOptions options;
    options.decoded_limit = kWriteQueue;
    parts_ = std::make_unique<test::LazyParts>(options);
    mount_ = std::make_unique<test::LazyMount>(*parts_, folder, layer_);
  }
  void ExpectRight(const std::string& tree) {
    EXPECT_EQ(test::Differences(test::WalkTable(*layer_.table, layer_.tar), test::WalkDirectory(tree)), "");
  }
  static IndexedLayer EightMegabytes() {
    TarBuilder tar;
    for (int i = 0; i < 40; ++i) tar.File("f" + std::to_string(i), NoiseBytes(200'000, static_cast<uint64_t>(i)));
    return MakeIndexedLayer(tar.Finish(), {.span_size = kSpan, .block_size = kSpan / 4});
  }

  static constexpr uint64_t kWriteQueue = 1 << 20, kSpan = 64 << 10;
  const IndexedLayer layer_ = EightMegabytes();
  const test::TemporaryDirectory root_;
  std::string disk_;
  std::unique_ptr<test::LazyParts> parts_;
  std::unique_ptr<test::LazyMount> mount_;
};

// Far more is read than may wait for the disk.
TEST_F(SlowDisk, ReadsAreAnsweredWhileTheDiskTakesNothing) {
  {
    const Frozen disk(disk_);
    ASSERT_TRUE(disk) << std::strerror(errno);
    ExpectRight(mount_->path());
    EXPECT_EQ(mount_->store().present_count(), 0u);
    EXPECT_LE(parts_->scheduler.decoded_bytes(), kWriteQueue + 4 * kSpan);
    ExpectRight(mount_->path());
  }
  mount_->Fill();
  ASSERT_TRUE(mount_->Seal().ok());
  ExpectRight(mount_->store().sealed_path());
}

TEST_F(SlowDisk, AFillThatWaitsForTheDiskKeepsNobodyFromReading) {
  std::future<void> fill;
  {
    const Frozen disk(disk_);
    ASSERT_TRUE(disk) << std::strerror(errno);
    fill = std::async(std::launch::async, [this] { mount_->Fill(); });
    // As far as fill comes.
    while (parts_->scheduler.decoded_bytes() < kWriteQueue / 2) std::this_thread::yield();
    ExpectRight(mount_->path());
    EXPECT_EQ(mount_->store().present_count(), 0u);
    EXPECT_LE(parts_->scheduler.decoded_bytes(), kWriteQueue + 4 * kSpan);
  }
  fill.get();
  ASSERT_TRUE(mount_->Seal().ok());
  ExpectRight(mount_->store().sealed_path());
}

}  // namespace
}  // namespace soci
