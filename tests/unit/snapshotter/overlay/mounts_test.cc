#include "snapshotter/overlay/mounts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci {
namespace {

using ::testing::ElementsAre;

constexpr auto kActive = SnapshotKind::kActive;
constexpr auto kView = SnapshotKind::kView;
const SnapshotFolder kOwn = {"/s/7/fs", "/s/7/work"};

TEST(Mounts, WithoutParentsItIsABindMountOfItsOwnFolder) {
  EXPECT_THAT(MakeMounts(kActive, kOwn, {}, {}), ElementsAre(Mount{"bind", "/s/7/fs", {"rw", "rbind"}}));
  EXPECT_THAT(MakeMounts(kView, kOwn, {}, {}), ElementsAre(Mount{"bind", "/s/7/fs", {"ro", "rbind"}}));
}

TEST(Mounts, AViewOfOneParentIsAReadOnlyBindMountOfThatParent) {
  EXPECT_THAT(MakeMounts(kView, kOwn, {"/m/1"}, {}), ElementsAre(Mount{"bind", "/m/1", {"ro", "rbind"}}));
}

TEST(Mounts, AnActiveSnapshotIsAnOverlayWithItsOwnUpperAndTheNearestParentFirst) {
  EXPECT_THAT(MakeMounts(kActive, kOwn, {"/m/2", "/m/1"}, {}),
              ElementsAre(Mount{"overlay",
                                "overlay",
                                {"index=off", "metacopy=off", "redirect_dir=off", "xino=off", "workdir=/s/7/work",
                                 "upperdir=/s/7/fs", "lowerdir=/m/2:/m/1"}}));
}

TEST(Mounts, AViewOfSeveralParentsIsAnOverlayWithoutUpper) {
  EXPECT_THAT(
      MakeMounts(kView, kOwn, {"/m/2", "/m/1"}, {}),
      ElementsAre(Mount{
          "overlay", "overlay", {"index=off", "metacopy=off", "redirect_dir=off", "xino=off", "lowerdir=/m/2:/m/1"}}));
}

TEST(Mounts, OptionsTheKernelDoesNotKnowAreLeftOut) {
  OverlayFlags flags{.index = false, .metacopy = false, .redirect_dir = true, .xino = false, .userxattr = false};
  EXPECT_THAT(MakeMounts(kView, kOwn, {"/m/2", "/m/1"}, flags)[0].options,
              ElementsAre("redirect_dir=off", "lowerdir=/m/2:/m/1"));
}

TEST(Mounts, UserxattrGoesWithoutTheOptionsItConflictsWith) {
  OverlayFlags flags;
  flags.userxattr = true;
  EXPECT_THAT(MakeMounts(kView, kOwn, {"/m/2", "/m/1"}, flags)[0].options,
              ElementsAre("index=off", "xino=off", "userxattr", "lowerdir=/m/2:/m/1"));
}

// Field report C8.
TEST(Mounts, C8_OptionsOf127ShortLowersFitOnePage) {
  for (const char* pattern : {"/run/soci-snapshotter/m/{}", "/run/soci-snapshotter/l/{}"}) {
    std::vector<std::string> lowers;
    for (int i = 0; i < 127; ++i) lowers.push_back(fmt::format(fmt::runtime(pattern), 10'000 + i));
    const SnapshotFolder own = {"/var/lib/soci-snapshotter/snapshots/10127/fs",
                                "/var/lib/soci-snapshotter/snapshots/10127/work"};
    EXPECT_LT(OptionBytes(MakeMounts(kActive, own, lowers, {})), 4096u);
  }
}

}  // namespace
}  // namespace soci
