// The comparer of the differential test: it must see everything a container could.
#include "tests/layers/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/support/temporary_directory.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;

TEST(Tree, EveryDifferenceOfAnEntryIsTold) {
  TreeEntry entry;
  entry.mode = S_IFREG | 0644;
  const Tree one{{"a", entry}};
  const std::vector<std::function<void(TreeEntry&)>> changes = {
      [](TreeEntry& e) { e.mode |= 04000; },
      [](TreeEntry& e) { e.uid = 1; },
      [](TreeEntry& e) { e.gid = 1; },
      [](TreeEntry& e) { e.size = 1; },
      [](TreeEntry& e) { e.mtime_seconds = 1; },
      [](TreeEntry& e) { e.mtime_nanoseconds = 1; },
      [](TreeEntry& e) { e.link_target = "x"; },
      [](TreeEntry& e) { e.device_major = 1; },
      [](TreeEntry& e) { e.device_minor = 1; },
      [](TreeEntry& e) { e.xattrs["user.a"] = "b"; },
      [](TreeEntry& e) { e.hard_link_group = "b"; },
      [](TreeEntry& e) { e.content = oci::Digest::Of("x"); },
  };
  EXPECT_EQ(Differences(one, one), "");
  for (size_t i = 0; i < changes.size(); ++i) {
    Tree other = one;
    changes[i](other["a"]);
    EXPECT_THAT(Differences(one, other), HasSubstr("a: ")) << i;
  }
}

TEST(Tree, MissingAndUnexpectedPathsAreTold) {
  EXPECT_THAT(Differences({{"a", {}}}, {{"b", {}}}), HasSubstr("a: missing"));
  EXPECT_THAT(Differences({{"a", {}}}, {{"b", {}}}), HasSubstr("b: not expected"));
}

TEST(Tree, XattrsThatLookAlikeInPrintAreStillDifferent) {
  TreeEntry one, other;
  one.xattrs["user.a"] = std::string(100, 'x') + "1";
  other.xattrs["user.a"] = std::string(100, 'x') + "2";
  EXPECT_THAT(Differences({{"a", one}}, {{"a", other}}), HasSubstr("xattrs differ"));
}

TEST(Tree, AWalkSeesContentLinksAndGroups) {
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "d");
  std::ofstream(folder / "d/f") << "content";
  std::filesystem::create_hard_link(folder / "d/f", folder / "e");
  std::filesystem::create_symlink("d/f", folder / "s");
  const Tree tree = WalkDirectory(folder.path());
  ASSERT_EQ(tree.size(), 5u);
  EXPECT_EQ(tree.at("d/f").content, oci::Digest::Of("content"));
  EXPECT_EQ(tree.at("d/f").hard_link_group, "d/f");
  EXPECT_EQ(tree.at("e").hard_link_group, "d/f");
  EXPECT_EQ(tree.at("s").link_target, "d/f");
  EXPECT_EQ(tree.at("s").hard_link_group, "");
}

}  // namespace
}  // namespace soci::test
