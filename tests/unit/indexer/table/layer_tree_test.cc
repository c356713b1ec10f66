// What members make of a tree: each rule of containerd's unpacker, told by its outcome.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "indexer/table/layer_table.h"
#include "tests/layers/indexed_layer.h"
#include "tests/support/tar_builder.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::TarBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "path type-letter" of everything below a folder, depth first.
void List(const LayerTable& table, InodeId folder, const std::string& prefix, std::vector<std::string>& out) {
  for (uint64_t rank = 0; rank < table.ChildCount(folder); ++rank) {
    const DirectoryChild child = table.Child(folder, rank);
    const std::string path = prefix + std::string(child.name);
    const uint32_t mode = table.Attributes(child.inode)->mode;
    const char letter = S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : S_ISCHR(mode) ? 'c' : S_ISREG(mode) ? 'f' : '?';
    out.push_back(path + " " + letter);
    if (S_ISDIR(mode)) List(table, child.inode, path + "/", out);
  }
}

std::vector<std::string> TreeOf(const TarBuilder& tar) {
  const IndexedLayer layer = MakeIndexedLayer(tar.Finish());
  std::vector<std::string> out;
  List(*layer.table, InodeId::kRoot, "", out);
  return out;
}

InodeAttributes At(const LayerTable& table, std::initializer_list<std::string_view> path) {
  InodeId at = InodeId::kRoot;
  for (const std::string_view name : path) {
    const std::optional<InodeId> next = table.Lookup(at, name);
    if (!next) throw std::runtime_error("no " + std::string(name));
    at = *next;
  }
  return *table.Attributes(at);
}

std::string WhyRefused(const TarBuilder& tar) {
  try {
    MakeIndexedLayer(tar.Finish());
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "not refused";
}

TEST(LayerTree, NamesAreCleanedAndMissingFoldersMade) {
  EXPECT_THAT(TreeOf(TarBuilder()
                         .Directory("./")
                         .Directory("/")
                         .Directory(".")
                         .File("./a", "1")
                         .File("/b", "2")
                         .File("c//d", "3")
                         .File("e/./f", "4")
                         .File("g/../../h", "5")),
              ElementsAre("a f", "b f", "c d", "c/d f", "e d", "e/f f", "h f"));
}

TEST(LayerTree, FoldersThatNoMemberMakesAreRootOwnedAndOfTime0) {
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("a/b", "x", {.uid = 7}).Finish());
  const InodeAttributes folder = At(*layer.table, {"a"});
  EXPECT_EQ(folder.mode, S_IFDIR | 0755u);
  EXPECT_EQ(folder.uid, 0u);
  EXPECT_EQ(folder.mtime_seconds, 0);
}

TEST(LayerTree, AttributesOfTheRootAreNotTaken) {
  const IndexedLayer layer =
      MakeIndexedLayer(TarBuilder().Directory("./", {.mode = 0700, .uid = 5, .gid = 6}).Finish());
  const InodeAttributes root = *layer.table->Attributes(InodeId::kRoot);
  EXPECT_EQ(root.mode, S_IFDIR | 0755u);
  EXPECT_EQ(root.uid, 0u);
}

TEST(LayerTree, AFolderMetAgainTakesTheNewAttributesAndKeepsItsChildren) {
  const IndexedLayer layer =
      MakeIndexedLayer(TarBuilder()
                           .Directory("a", {.mode = 0700, .xattrs = {{"user.one", "1"}}})
                           .File("a/x", "x")
                           .Directory("a/", {.mode = 01777, .uid = 3, .xattrs = {{"user.two", "2"}}})
                           .Finish());
  const InodeAttributes folder = At(*layer.table, {"a"});
  EXPECT_EQ(folder.mode, S_IFDIR | 01777u);
  EXPECT_EQ(folder.uid, 3u);
  EXPECT_EQ(At(*layer.table, {"a", "x"}).size, 1u);
  EXPECT_EQ(layer.table->XattrCount(*layer.table->Lookup(InodeId::kRoot, "a")), 2u);
}

TEST(LayerTree, AnyOtherMemberReplacesWhatHadItsName) {
  EXPECT_THAT(TreeOf(TarBuilder()
                         .File("a", "1")
                         .Directory("a")
                         .File("a/inside", "2")
                         .Directory("b")
                         .File("b/gone", "3")
                         .Symlink("b", "a")
                         .File("c", "4")
                         .File("c", "55")),
              ElementsAre("a d", "a/inside f", "b l", "c f"));
}

TEST(LayerTree, DataOfReplacedFilesBelongToNoInode) {
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("c", "old").File("c", "newer").Finish());
  ASSERT_EQ(layer.table->content_count(), 2u);
  EXPECT_EQ(ToNumber(layer.table->Content(0).inode), 0u);
  EXPECT_EQ(layer.table->Content(1).inode, *layer.table->Lookup(InodeId::kRoot, "c"));
  EXPECT_EQ(At(*layer.table, {"c"}).size, 5u);
}

TEST(LayerTree, HardLinksShareAnInodeAndBringItTheirAttributes) {
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder()
                                                  .File("z", "data", {.mode = 0600})
                                                  .HardLink("d/y", "./z", {.mode = 0640, .uid = 9})
                                                  .Symlink("s", "z")
                                                  .HardLink("t", "/s")
                                                  .Finish());
  const LayerTable& table = *layer.table;
  EXPECT_EQ(table.Lookup(*table.Lookup(InodeId::kRoot, "d"), "y"), table.Lookup(InodeId::kRoot, "z"));
  EXPECT_EQ(table.Lookup(InodeId::kRoot, "s"), table.Lookup(InodeId::kRoot, "t"));
  EXPECT_EQ(At(table, {"z"}).link_count, 2u);
  EXPECT_EQ(At(table, {"z"}).mode, S_IFREG | 0640u);
  EXPECT_EQ(At(table, {"z"}).uid, 9u);
  EXPECT_EQ(At(table, {"s"}).mode, S_IFLNK | 0777u);
}

TEST(LayerTree, AFileLivesOnUnderItsOtherName) {
  const IndexedLayer layer =
      MakeIndexedLayer(TarBuilder().File("a", "first").HardLink("b", "a").File("a", "second!").Finish());
  EXPECT_EQ(At(*layer.table, {"a"}).size, 7u);
  EXPECT_EQ(At(*layer.table, {"b"}).size, 5u);
  EXPECT_EQ(At(*layer.table, {"b"}).link_count, 1u);
}

// Field report D10: the target comes later, is in a layer below, or nowhere; the layer is unpacked, not mounted.
TEST(LayerTree, HardLinksToNothingEarlierAreRefused) {
  EXPECT_THAT(WhyRefused(TarBuilder().HardLink("b", "a").File("a", "1")), HasSubstr("hard link to nothing"));
  EXPECT_THAT(WhyRefused(TarBuilder().File("a", "1").HardLink("a", "a")), HasSubstr("hard link to nothing"));
  EXPECT_THAT(WhyRefused(TarBuilder().Directory("a").HardLink("b", "a")), HasSubstr("hard link to a folder"));
}

TEST(LayerTree, WhiteoutsBecomeDevicesUnlessTheLayerHasTheName) {
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder()
                                                  .File("dir/.wh.gone", "", {.mode = 0600, .uid = 4})
                                                  .File(".wh.back", "")
                                                  .File("back", "again")
                                                  .File("was", "here")
                                                  .File(".wh.was", "")
                                                  .Finish());
  std::vector<std::string> tree;
  List(*layer.table, InodeId::kRoot, "", tree);
  EXPECT_THAT(tree, ElementsAre("back f", "dir d", "dir/gone c", "was f"));
  const InodeAttributes gone = At(*layer.table, {"dir", "gone"});
  EXPECT_EQ(gone.mode, static_cast<uint32_t>(S_IFCHR));
  EXPECT_EQ(gone.device_major, 0u);
  EXPECT_EQ(gone.uid, 4u);
}

TEST(LayerTree, OpaqueMarksBecomeTheXattrOfOverlayfs) {
  const IndexedLayer layer = MakeIndexedLayer(
      TarBuilder().File("dir/.wh..wh..opq", "").Directory("dir", {.mode = 0711}).File("dir/kept", "1").Finish());
  const InodeId dir = *layer.table->Lookup(InodeId::kRoot, "dir");
  ASSERT_EQ(layer.table->XattrCount(dir), 1u);
  EXPECT_EQ(layer.table->XattrAt(dir, 0).name, "trusted.overlay.opaque");
  EXPECT_EQ(layer.table->XattrAt(dir, 0).value, "y");
  EXPECT_TRUE(layer.table->has_xattrs());
  EXPECT_EQ(layer.table->ChildCount(dir), 1u);
}

TEST(LayerTree, WhiteoutsOfNothingAreRefused) {
  EXPECT_THAT(WhyRefused(TarBuilder().File("a/.wh...", "")), HasSubstr("a whiteout of nothing"));
  EXPECT_THAT(WhyRefused(TarBuilder().File(".wh.", "")), HasSubstr("a whiteout of nothing"));
}

TEST(LayerTree, SymlinksInAPathAreFollowedInsideTheLayer) {
  EXPECT_THAT(TreeOf(TarBuilder()
                         .Directory("usr/lib")
                         .Symlink("lib", "usr/lib")
                         .File("lib/one", "1")
                         .Symlink("out", "/../../usr")
                         .File("out/two", "2")
                         .Symlink("dangling", "made/here")
                         .File("dangling/three", "3")),
              ElementsAre("dangling l", "lib l", "made d", "made/here d", "made/here/three f", "out l", "usr d",
                          "usr/lib d", "usr/lib/one f", "usr/two f"));
}

TEST(LayerTree, PathsThroughFilesAndLinkLoopsAreRefused) {
  EXPECT_THAT(WhyRefused(TarBuilder().File("a", "1").File("a/b", "2")), HasSubstr("no folder"));
  EXPECT_THAT(WhyRefused(TarBuilder().Symlink("a", "b").Symlink("b", "a").File("a/c", "1")), HasSubstr("symlinks"));
}

TEST(LayerTree, NamesThatTheKernelCannotHoldAreRefusedNamingTheMember) {
  EXPECT_THAT(WhyRefused(TarBuilder().File("ok", "1").File(std::string(256, 'n'), "1")), HasSubstr("member 1 \"nnn"));
  EXPECT_EQ(WhyRefused(TarBuilder().File(std::string(255, 'n'), "1")), "not refused");
  std::string deep;
  for (int i = 0; i < 2100; ++i) deep += "d/";
  EXPECT_THAT(WhyRefused(TarBuilder().Directory(deep)), HasSubstr("longer than the kernel allows"));
}

TEST(LayerTree, OnlyXattrsThatALayerMayCarryAreKept) {
  const IndexedLayer layer =
      MakeIndexedLayer(TarBuilder()
                           .File("f", "1",
                                 {.xattrs = {{"user.empty", ""},
                                             {"security.capability", std::string("\0\0\0\2bin", 7)},
                                             {"trusted.overlay.redirect", "/etc"},
                                             {"odd.name", "1"}}})
                           .Symlink("s", "f", {.mode = 0777, .xattrs = {{"user.x", "1"}, {"security.y", "2"}}})
                           .Finish());
  const LayerTable& table = *layer.table;
  const InodeId file = *table.Lookup(InodeId::kRoot, "f");
  ASSERT_EQ(table.XattrCount(file), 2u);
  EXPECT_EQ(table.XattrAt(file, 0).name, "security.capability");
  EXPECT_EQ(table.XattrAt(file, 0).value, std::string_view("\0\0\0\2bin", 7));
  EXPECT_EQ(table.XattrAt(file, 1).name, "user.empty");
  EXPECT_EQ(table.XattrCount(*table.Lookup(InodeId::kRoot, "s")), 1u);
}

TEST(LayerTree, TimesThatContainerdCannotStoreAreTime0) {
  const IndexedLayer layer =
      MakeIndexedLayer(TarBuilder()
                           .File("before", "1", {.mtime = -1, .mtime_nanoseconds = 5})
                           .File("late", "1", {.mtime = 9'223'372'037})
                           .File("exact", "1", {.mtime = 1'700'000'000, .mtime_nanoseconds = 123456789})
                           .Finish());
  EXPECT_EQ(At(*layer.table, {"before"}).mtime_seconds, 0);
  EXPECT_EQ(At(*layer.table, {"before"}).mtime_nanoseconds, 0u);
  EXPECT_EQ(At(*layer.table, {"late"}).mtime_seconds, 0);
  EXPECT_EQ(At(*layer.table, {"exact"}).mtime_nanoseconds, 123456789u);
}

}  // namespace
}  // namespace soci
