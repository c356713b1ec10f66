// The oracle: a lazily mounted image is the same tree as the same image unpacked by containerd itself; cold, and
// sealed.
//
// A case is one entry of Cases(): layers, lowest first.
#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <sstream>

#include "tests/e2e/support/lazy_start.h"
#include "tests/layers/tree.h"

namespace soci::test {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> tars;
  std::function<std::string(const std::string&)> compress = [](const std::string& tar) { return Gzip(tar); };
};

std::string LongName(size_t size) { return "long/" + std::string(size, 'n'); }

// D6: files around the borders of spans, the last byte of the layer being a file's.
std::string ManySizes() {
  TarBuilder tar;
  tar.Directory("sizes");
  for (size_t size : {0, 1, 511, 512, 513, 4095, 4096, 65535, 65536, 65537, 200'000}) {
    tar.File("sizes/" + std::to_string(size), NoiseBytes(size, size));
  }
  return tar.Finish();
}

// A1: several members, an empty one between them, cut in the middle of a file.
std::string SeveralMembers(const std::string& tar) {
  const size_t cut = tar.size() / 2 + 100;
  return Gzip(tar.substr(0, cut)) + Gzip("") + Gzip(tar.substr(cut));
}

// A2: a header with name, extra field, comment and checksum flags set, which shift the data.
std::string LongHeader(const std::string& tar) {
  const std::string gzip = Gzip(tar);
  std::string header = gzip.substr(0, 10);
  header[3] = 0x04 | 0x08 | 0x10;  // FEXTRA, FNAME, FCOMMENT
  header += std::string("\x2c\x01", 2) + std::string(300, 'e');
  header += std::string("layer.tar\0", 10) + std::string("a comment\0", 10);
  return header + gzip.substr(10);
}

std::vector<Case> Cases() {
  const std::string base = TarBuilder()
                               .Directory("dir")
                               .File("dir/a", "a")
                               .File("dir/b", "b")
                               .Directory("dir/sub")
                               .File("dir/sub/c", "c")
                               .Directory("kept")
                               .File("kept/k", ProseBytes(300'000, 1))
                               .File("gone", "gone")
                               .Finish();
  return {
      {"Types",
       {TarBuilder()
            .Directory("d", {.mode = 01777, .uid = 1000, .gid = 1001, .mtime = 1'500'000'000})
            .File("d/file", "content",
                  {.mode = 04755, .uid = 7, .mtime = 1'234'567'890, .mtime_nanoseconds = 123'456'789})
            .Symlink("d/link", "file")
            .Symlink("d/nowhere", std::string(200, 'x'))
            .HardLink("d/hard", "d/file",
                      {.mode = 04755, .uid = 7, .mtime = 1'234'567'890, .mtime_nanoseconds = 123'456'789})
            .CharDevice("d/null", 1, 3)
            .BlockDevice("d/loop", 7, 0)
            .Fifo("d/fifo")
            .File("d/unreadable", "secret", {.mode = 0})
            .Finish()}},
      {"HardLinksOfOtherTypes",
       {TarBuilder().Symlink("s", "t").HardLink("s2", "s").Fifo("f").HardLink("f2", "f").Finish()}},
      {"Xattrs",
       {TarBuilder()
            .File("x", "x", {.xattrs = {{"user.color", "blue"}, {"user.empty", ""}}})
            .HardLink("y", "x", {.xattrs = {{"user.color", "blue"}, {"user.empty", ""}}})
            .File("cap", "x",
                  {.xattrs = {{"security.capability",
                               std::string("\x01\0\0\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20)}}})
            .Directory("d", {.xattrs = {{"user.on.directory", std::string("\0\x01", 2)}}})
            .Finish()}},
      {"LongNames",
       {TarBuilder()
            .Directory("long")
            .File(LongName(101), "1")
            .File(LongName(255), "2")
            .File("long/umlaut-\xc3\xa4-and-raw-\xff", "3")
            .Symlink("long/to", "../" + LongName(255))
            .HardLink("long/hard", LongName(255))
            .Finish()}},
      // D4
      {"WhiteoutsAndOpaqueDirectories",
       {base, TarBuilder()
                  .Whiteout("gone")
                  .Whiteout("never-was")
                  .Directory("dir")
                  .Opaque("dir")
                  .File("dir/new", "new")
                  .Directory("kept")
                  .Whiteout("kept/k")
                  .File("kept/k2", "again")
                  .Finish()}},
      {"FileBecomesDirectoryAndBack",
       {TarBuilder().File("a", "file").Directory("b").File("b/x", "x").Finish(),
        TarBuilder().Directory("a").File("a/inside", "1").File("b", "file now").Finish()}},
      {"TheSamePathTwice",
       {TarBuilder()
            .File("a", "first", {.mode = 0600})
            .File("a", "second", {.mode = 0644})
            .Directory("d")
            .File("d", "f")
            .Finish()}},
      // D7
      {"NamesOfTheRootAndOddPaths",
       {TarBuilder()
            .Directory(".")
            .Directory("./a")
            .File("./a/1", "1")
            .File("/b", "2")
            .File("c//d", "3")
            .File("e/./f", "4")
            .Finish()}},
      {"ParentsThatNoMemberMakes", {TarBuilder().File("x/y/z/file", "deep").Finish()}},
      {"ManySizes", {ManySizes()}},
      {"SeveralMembers", {ManySizes()}, SeveralMembers},
      {"LongHeader", {ManySizes()}, LongHeader},
      {"Plain", {base, ManySizes()}, [](const std::string& tar) { return tar; }},
      {"Stored", {ManySizes()}, [](const std::string& tar) { return Gzip(tar, 0); }},
      {"EmptyLayer", {base, TarBuilder().Finish()}},
  };
}

TestImage ImageOf(const Case& one) {
  TestImage image;
  for (const std::string& tar : one.tars) {
    const std::string blob = one.compress(tar);
    image.Add(StoredLayer(
        blob, blob == tar ? "application/vnd.oci.image.layer.v1.tar" : "application/vnd.oci.image.layer.v1.tar+gzip",
        tar));
  }
  return image;
}

// Times of folders that are made on the way are those of the unpacking.
std::set<std::string> UndefinedTimes() { return {"", "x", "x/y", "x/y/z", "c", "e"}; }

oci::ChainId TopOf(const TestImage& image) {
  oci::ChainId chain;
  for (const ImageLayer& layer : image.layers()) chain = oci::Stack(chain, layer.diff_id);
  return chain;
}

class WholeImage : public LazyStart {
 protected:
  // The tree of an image as one of containerd's snapshotters has it. Not by `ctr images mount`: in containerd 1.6 it
  // mounts from the default snapshotter, whatever it is told.
  Tree Walk(const std::string& snapshotter, const TestImage& image) {
    const std::string folder = sandbox_ / ("mounted-" + snapshotter), key = "look-" + std::to_string(++looks_);
    std::filesystem::create_directories(folder);
    // A view made by ctr would be collected at once; it prints the command that mounts.
    const CommandResult prepared = containerd_.Ctr(
        {"snapshots", "--snapshotter", snapshotter, "prepare", "--target", folder, key, TopOf(image).ToString()});
    EXPECT_EQ(Failure(prepared), "");
    std::istringstream words(prepared.out);
    const std::vector<std::string> mount{std::istream_iterator<std::string>(words), {}};
    if (mount.empty()) return {};
    EXPECT_EQ(Failure(RunCommand(mount)), "");
    Tree tree = WalkDirectory(folder);
    EXPECT_EQ(Failure(RunCommand({"umount", folder})), "");
    EXPECT_EQ(Failure(containerd_.Ctr({"snapshots", "--snapshotter", snapshotter, "rm", key})), "");
    ForgetTimes(tree, UndefinedTimes());
    return tree;
  }

 private:
  int looks_ = 0;
};

TEST_F(WholeImage, AMountedImageIsTheTreeThatContainerdUnpacks) {
  int number = 0;
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.name);
    const TestImage image = ImageOf(one);
    const std::string reference = PushIndexed(image, "case" + std::to_string(++number));
    // Both snapshotters hold the image under one name, so what containerd unpacked is looked at first.
    ASSERT_EQ(Failure(containerd_.Pull("overlayfs", reference)), "");
    const Tree expected = Walk("overlayfs", image);
    PullLazily(reference);
    for (const ImageLayer& layer : image.layers()) EXPECT_NE(StateOf(layer), "deferred");
    EXPECT_EQ(Differences(expected, Walk("soci", image)), "") << "cold";
    ASSERT_TRUE(daemon_.WaitUntilSealed()) << daemon_.Log();
    EXPECT_EQ(Differences(expected, Walk("soci", image)), "") << "sealed";
    containerd_.RemoveAllImages();
  }
}

// C8: as many layers as an image may have; all lazy, all sealed, and mixed.
TEST_F(WholeImage, An127LayerImageMountsLazySealedAndMixed) {
  TestImage image;
  for (int i = 0; i < 127; ++i) {
    image.Add(GzipLayer(TarBuilder().File("file" + std::to_string(i), NoiseBytes(100 + i, i)).Finish()));
  }
  const std::string reference = PushIndexed(image, std::string(60, 'r') + "/" + std::string(60, 's'));
  PullLazily(reference);
  EXPECT_EQ(Walk("soci", image).size(), 128u);
  ASSERT_TRUE(daemon_.WaitUntilSealed()) << daemon_.Log();
  EXPECT_EQ(Walk("soci", image).size(), 128u);
}

}  // namespace
}  // namespace soci::test
