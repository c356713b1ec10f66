// A fixture for real mounts: a pool, a table made by hand, folders below one temporary root. Skips without root.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "fuse/session/in_process_keeper.h"
#include "fuse/session/null_keeper.h"
#include "fuse/session/session_pool.h"
#include "tests/fakes/fake_layer_reader.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {

class LayerMount : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0 || ::access("/dev/fuse", R_OK | W_OK) != 0) GTEST_SKIP() << "needs root and /dev/fuse";
    pool_ = *SessionPool::Start(null_keeper_);
  }

  std::unique_ptr<MountHandle> MountAt(LayerReader& reader, const std::string& name) {
    auto mounted = pool_->Mount(reader, root_ / name);
    EXPECT_TRUE(mounted.ok()) << mounted.status();
    return mounted.ok() ? std::move(*mounted) : nullptr;
  }

  // An overlay of these lowers (top first) at `name`, gone with the temporary root.
  std::string Overlay(const std::string& lowers, const std::string& name, const std::string& options = "") {
    std::string merged = root_ / name;
    for (const char* folder : {"", "-up", "-work"}) std::filesystem::create_directories(merged + folder);
    std::string data = "lowerdir=" + lowers + ",upperdir=" + merged + "-up,workdir=" + merged +
                       "-work,index=off,metacopy=off,redirect_dir=off,xino=off" + options;
    EXPECT_LT(data.size(), 4096u);
    EXPECT_EQ(::mount("overlay", merged.c_str(), "overlay", 0, data.c_str()), 0) << strerror(errno) << " " << data;
    return merged;
  }

  static std::string Slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_TRUE(file.is_open()) << path;
    return text.str();
  }

  TemporaryDirectory root_;
  NullKeeper null_keeper_;
  FakeLayerTable table_;
  std::unique_ptr<SessionPool> pool_;
};

}  // namespace soci::test
