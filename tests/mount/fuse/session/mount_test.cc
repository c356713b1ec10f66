#include <dirent.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <cstdlib>
#include <set>
#include <thread>

#include "tests/mount/fuse/session/layer_mount.h"

namespace soci::test {
namespace {

// Runs a shell command, returns its exit code.
int Shell(const std::string& command) {
  int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool IsMounted(const std::string& path) {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" " + path + " ") != std::string::npos) return true;
  }
  return false;
}

TEST_F(LayerMount, FilesAreReadAsTheTableAndTheLayerSay) {
  table_.Directory("usr");
  table_.File("usr/f", std::string(3'000'000, 'q') + "end", 04755).attributes.uid = 12;
  table_.Symlink("usr/l", "f");
  FakeLayerReader reader(table_);
  auto mounted = MountAt(reader, "m");
  EXPECT_EQ(Slurp(root_ / "m/usr/l"), std::string(3'000'000, 'q') + "end");
  struct stat answer {};
  ASSERT_EQ(::stat((root_ / "m/usr/f").c_str(), &answer), 0);
  EXPECT_EQ(answer.st_mode, static_cast<mode_t>(S_IFREG | 04755));
  EXPECT_EQ(answer.st_uid, 12u);
  EXPECT_EQ(answer.st_mtim.tv_nsec, 123'456'789);
  EXPECT_EQ(std::filesystem::read_symlink(root_ / "m/usr/l"), "f");
  EXPECT_NE(::open((root_ / "m/usr/f").c_str(), O_WRONLY), 0);
  EXPECT_EQ(errno, EROFS);
}

TEST_F(LayerMount, TheReadAheadIsRaised) {
  table_.File("f", "x");
  FakeLayerReader reader(table_);
  auto mounted = MountAt(reader, "m");
  struct stat answer {};
  ASSERT_EQ(::stat((root_ / "m").c_str(), &answer), 0);
  std::string path = "/sys/class/bdi/" + std::to_string(major(answer.st_dev)) + ":" +
                     std::to_string(minor(answer.st_dev)) + "/read_ahead_kb";
  if (::access(path.c_str(), W_OK) != 0) GTEST_SKIP() << "no " << path;
  EXPECT_EQ(Slurp(path), "1024\n");
}

TEST_F(LayerMount, DroppingTheHandleUnmountsAndRemovesTheFolder) {
  table_.File("f", "x");
  FakeLayerReader reader(table_);
  auto mounted = MountAt(reader, "m");
  EXPECT_TRUE(IsMounted(root_ / "m"));
  mounted.reset();
  EXPECT_FALSE(IsMounted(root_ / "m"));
  EXPECT_FALSE(std::filesystem::exists(root_ / "m"));
}

TEST_F(LayerMount, ABusyMountGoesWithoutWaitingForItsUser) {
  table_.File("f", "content");
  table_.File("g", "content");
  FakeLayerReader reader(table_);
  auto mounted = MountAt(reader, "m");
  UniqueFd file(::open((root_ / "m/f").c_str(), O_RDONLY | O_CLOEXEC));
  UniqueFd folder(::open((root_ / "m").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  mounted.reset();
  EXPECT_FALSE(IsMounted(root_ / "m"));
  char byte;
  EXPECT_EQ(::pread(file.get(), &byte, 1, 0), -1);
  EXPECT_EQ(::openat(folder.get(), "g", O_RDONLY), -1);
}

TEST_F(LayerMount, AReadThatWaitsIsAnsweredBeforeTheMountGoes) {
  table_.File("f", "content");
  FakeLayerReader reader(table_);
  auto mounted = MountAt(reader, "m");
  reader.Hold(*table_.Lookup(InodeId::kRoot, "f"));
  std::string got;
  std::thread caller([&] { got = Slurp(root_ / "m/f"); });
  reader.WaitForHeld(1);
  std::thread unmount([&] { mounted.reset(); });
  while (IsMounted(root_ / "m")) std::this_thread::yield();
  reader.Release();
  caller.join();
  unmount.join();
  EXPECT_EQ(got, "content");
}

TEST_F(LayerMount, AReadThatNobodyAnswersDoesNotHoldTheMount) {
  SessionPool::Options options;
  options.reply_grace = std::chrono::milliseconds(1);
  pool_ = *SessionPool::Start(null_keeper_, options);
  table_.File("f", "content");
  FakeLayerReader reader(table_);
  auto mounted = MountAt(reader, "m");
  reader.Hold(*table_.Lookup(InodeId::kRoot, "f"));
  ssize_t got = 0;
  std::thread caller([&] {
    UniqueFd file(::open((root_ / "m/f").c_str(), O_RDONLY | O_CLOEXEC));
    char byte;
    got = ::pread(file.get(), &byte, 1, 0);
  });
  reader.WaitForHeld(1);
  mounted.reset();
  caller.join();
  EXPECT_EQ(got, -1);
  reader.Release();  // late, and harmless
}

TEST_F(LayerMount, ADeadMountOfAPredecessorIsTakenAway) {
  table_.File("f", "content");
  FakeLayerReader reader(table_);
  std::filesystem::create_directories(root_ / "m");
  for (int i = 0; i < 3; ++i) {
    auto device = OpenFuseDevice();
    ASSERT_TRUE(device.ok());
    ASSERT_TRUE(MountFuse(device->get(), "dead", root_ / "m").ok());
  }
  struct stat answer {};
  ASSERT_EQ(::stat((root_ / "m").c_str(), &answer), -1);
  ASSERT_EQ(errno, ENOTCONN);
  auto mounted = MountAt(reader, "m");
  EXPECT_EQ(Slurp(root_ / "m/f"), "content");
  mounted.reset();
  EXPECT_FALSE(IsMounted(root_ / "m"));
}

TEST_F(LayerMount, ALivingMountIsNotMountedOver) {
  table_.File("f", "content");
  FakeLayerReader reader(table_);
  auto mounted = MountAt(reader, "m");
  auto second = pool_->Mount(reader, root_ / "m");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Slurp(root_ / "m/f"), "content");
}

TEST_F(LayerMount, ASuccessorGoesOnWithAKeptMount) {
  table_.Directory("d");
  table_.File("d/f", "content");
  table_.File("d/g", "another");
  FakeLayerReader reader(table_);
  InProcessKeeper keeper;
  pool_ = *SessionPool::Start(keeper);
  auto mounted = MountAt(reader, "m");
  UniqueFd folder(::open((root_ / "m/d").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  UniqueFd file(::open((root_ / "m/d/f").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  mounted->LeaveToSuccessor();
  mounted.reset();
  EXPECT_TRUE(IsMounted(root_ / "m"));

  // Nobody serves; a call that comes now waits for the successor.
  std::string waited;
  std::thread caller([&] { waited = Slurp(root_ / "m/d/g"); });

  pool_ = *SessionPool::Start(keeper);
  mounted = MountAt(reader, "m");
  caller.join();
  EXPECT_EQ(waited, "another");
  char content[8] = {};
  EXPECT_EQ(::pread(file.get(), content, 7, 0), 7);
  EXPECT_STREQ(content, "content");
  UniqueFd reopened(::openat(folder.get(), "f", O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(reopened);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root_ / "m/d")) names.insert(entry.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"f", "g"}));
  mounted.reset();
  EXPECT_FALSE(IsMounted(root_ / "m"));
}

TEST_F(LayerMount, AKeptMountThatIsGoneIsMountedAnew) {
  table_.File("f", "content");
  FakeLayerReader reader(table_);
  InProcessKeeper keeper;
  pool_ = *SessionPool::Start(keeper);
  auto mounted = MountAt(reader, "m");
  mounted->LeaveToSuccessor();
  mounted.reset();
  ASSERT_EQ(::umount((root_ / "m").c_str()), 0);
  mounted = MountAt(reader, "m");
  EXPECT_EQ(Slurp(root_ / "m/f"), "content");
}

TEST_F(LayerMount, MissingDeviceOrRightIsSaidInOneLine) {
  // In a child whose right to mount is gone.
  pid_t child = ::fork();
  if (child == 0) {
    if (::syscall(SYS_setresuid, 65534, 65534, 65534) != 0) ::_exit(3);
    auto device = OpenFuseDevice();
    Status status = device.ok() ? MountFuse(device->get(), "x", root_ / "m") : device.status();
    bool right =
        status.code() == absl::StatusCode::kFailedPrecondition && Message(status).find('\n') == std::string_view::npos;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(LayerMount, ProgramsRunFromAnOverlayOfSeveralLowers) {
  std::string busybox = std::filesystem::exists("/bin/busybox") ? "/bin/busybox" : "/usr/bin/busybox";
  if (!std::filesystem::exists(busybox)) GTEST_SKIP() << "needs busybox";
  table_.Directory("bin");
  table_.File("bin/busybox", Slurp(busybox), 0755);
  FakeLayerReader base(table_);
  FakeLayerTable upper_table;
  upper_table.Directory("bin");
  upper_table.Symlink("bin/cat", "busybox");
  upper_table.File("hello", "from above\n");
  FakeLayerReader upper(upper_table);
  auto lower = MountAt(base, "1");
  auto above = MountAt(upper, "2");
  std::string merged = Overlay(root_ / "2" + ":" + (root_ / "1"), "merged");
  EXPECT_EQ(Shell("test \"$(chroot " + merged + " /bin/cat /hello)\" = 'from above'"), 0);
  EXPECT_EQ(Shell("chroot " + merged + " /bin/busybox sh -c 'echo more >> /hello'"), 0);
  EXPECT_EQ(Slurp(merged + "/hello"), "from above\nmore\n");
}

TEST_F(LayerMount, D1_CopyOfASparseLookingFileEnds) {
  std::string content(1'437'832, '\0');
  content.replace(700'000, 5, "bytes");
  table_.File("f", content);
  FakeLayerReader reader(table_);
  auto mounted = MountAt(reader, "m");
  std::string merged = Overlay(root_ / "m", "merged");
  for (const std::string& from : {root_ / "m/f", merged + "/f"}) {
    struct stat answer {};
    ASSERT_EQ(::stat(from.c_str(), &answer), 0);
    EXPECT_GE(answer.st_blocks * 512, answer.st_size);
    UniqueFd file(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
    off_t size = answer.st_size;
    EXPECT_EQ(::lseek(file.get(), 0, SEEK_DATA), 0);
    EXPECT_EQ(::lseek(file.get(), size - 1, SEEK_DATA), size - 1);
    EXPECT_EQ(::lseek(file.get(), 0, SEEK_HOLE), size);
    for (off_t offset : {size, size + 1}) {
      for (int whence : {SEEK_DATA, SEEK_HOLE}) {
        EXPECT_EQ(::lseek(file.get(), offset, whence), -1);
        EXPECT_EQ(errno, ENXIO);
      }
    }
    for (const char* how : {"cp --sparse=always", "cp --sparse=auto", "install"}) {
      EXPECT_EQ(Shell(std::string("timeout 10 ") + how + " " + from + " " + (root_ / "copy")), 0) << how;
      EXPECT_EQ(Slurp(root_ / "copy"), content);
    }
  }
}

TEST_F(LayerMount, D2_AListingCanBeSoughtAndRepeated) {
  for (int i = 0; i < 10'000; ++i) table_.File("n" + std::to_string(i), "");
  FakeLayerReader reader(table_);
  auto mounted = MountAt(reader, "m");
  DIR* folder = ::opendir((root_ / "m").c_str());
  ASSERT_NE(folder, nullptr);
  std::set<std::string> names;
  long middle = 0;
  std::string after;
  while (dirent* entry = ::readdir(folder)) {
    EXPECT_TRUE(names.insert(entry->d_name).second) << entry->d_name;
    if (names.size() == 5000) middle = ::telldir(folder);
    if (names.size() == 5001) after = entry->d_name;
  }
  EXPECT_EQ(names.size(), 10'002u);
  ::seekdir(folder, middle);
  EXPECT_EQ(after, ::readdir(folder)->d_name);
  ::rewinddir(folder);
  EXPECT_STREQ(::readdir(folder)->d_name, ".");
  ::closedir(folder);
}

TEST_F(LayerMount, D3_XattrsPassThroughTheOverlay) {
  std::string capability("\1\0\0\2\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
  std::string large(60 * 1024, 'v');
  table_.File("f", "x").xattrs = {
      {"security.capability", capability}, {"trusted.y", "t"}, {"user.empty", ""}, {"user.large", large}};
  FakeLayerReader reader(table_);
  auto mounted = MountAt(reader, "m");
  std::string merged = Overlay(root_ / "m", "merged");
  std::string value(64 * 1024, '\0');
  auto get = [&](const char* name) {
    ssize_t got = ::lgetxattr((merged + "/f").c_str(), name, value.data(), value.size());
    return got < 0 ? std::string(strerror(errno)) : value.substr(0, static_cast<size_t>(got));
  };
  EXPECT_EQ(get("security.capability"), capability);
  EXPECT_EQ(get("trusted.y"), "t");
  EXPECT_EQ(get("user.empty"), "");
  EXPECT_EQ(get("user.large"), large);
  char names[256];
  ssize_t got = ::llistxattr((merged + "/f").c_str(), names, sizeof names);
  EXPECT_EQ(std::string(names, static_cast<size_t>(std::max<ssize_t>(got, 0))),
            std::string("security.capability\0trusted.y\0user.empty\0user.large\0", 52));
}

TEST_F(LayerMount, D4_WhiteoutsAndOpaqueDirectoriesHideWhatIsBelow) {
  table_.File("a", "deleted above");
  table_.File("b", "stays");
  table_.Directory("dir");
  table_.File("dir/old", "hidden");
  table_.Directory("plain");
  table_.File("plain/x", "stays too");
  FakeLayerReader base(table_);
  FakeLayerTable top;
  top.Whiteout("a");
  top.Whiteout("never-there");
  top.Directory("dir").xattrs["trusted.overlay.opaque"] = "y";
  top.File("dir/new", "shown");
  top.Directory("plain");
  FakeLayerReader upper(top);
  auto lower = MountAt(base, "1");
  auto above = MountAt(upper, "2");
  std::string merged = Overlay(root_ / "2" + ":" + (root_ / "1"), "merged");
  auto list = [&](const std::string& path) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path)) names.insert(entry.path().filename());
    return names;
  };
  EXPECT_EQ(list(merged), (std::set<std::string>{"b", "dir", "plain"}));
  EXPECT_EQ(list(merged + "/dir"), (std::set<std::string>{"new"}));
  EXPECT_EQ(list(merged + "/plain"), (std::set<std::string>{"x"}));
  EXPECT_FALSE(std::filesystem::exists(merged + "/a"));
  std::ofstream(merged + "/a") << "made again";
  EXPECT_EQ(Slurp(merged + "/a"), "made again");
}

TEST_F(LayerMount, D6_FilesOfEverySizeOpenReadAndMap) {
  constexpr size_t kSpan = 4 << 20;
  std::vector<size_t> sizes = {0, 1, 4095, 4096, 4097, kSpan - 1, kSpan, kSpan + 1};
  for (size_t size : sizes)
    table_.File("f" + std::to_string(size), std::string(size, static_cast<char>('a' + size % 26)));
  FakeLayerReader reader(table_);
  auto mounted = MountAt(reader, "m");
  for (size_t size : sizes) {
    std::string path = root_ / "m/f" + std::to_string(size);
    EXPECT_EQ(Slurp(path), std::string(size, static_cast<char>('a' + size % 26)));
    EXPECT_EQ(Shell("timeout 10 cp " + path + " " + (root_ / "copy") + " && cmp " + path + " " + (root_ / "copy")), 0);
  }
}

}  // namespace
}  // namespace soci::test
