// Faults that users of lazy mounts met elsewhere, by the number they have in our list of field reports.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "indexer/base/file_io.h"
#include "tests/gzip/gzip_maker.h"
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
using ::testing::ElementsAre;

class FieldReport : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
    parts_ = std::make_unique<test::LazyParts>();
  }
  std::unique_ptr<test::LazyMount> Mount(const IndexedLayer& layer, const std::string& name) {
    return std::make_unique<test::LazyMount>(*parts_, root_ / name, layer);
  }
  // An overlay of these lowers, top first, with the options that snapshots get.
  std::string Overlay(const std::string& lowers) {
    const std::string merged = root_ / "merged";
    for (const char* folder : {"", "-up", "-work"}) std::filesystem::create_directories(merged + folder);
    const std::string data = "lowerdir=" + lowers + ",upperdir=" + merged + "-up,workdir=" + merged +
                             "-work,index=off,metacopy=off,redirect_dir=off,xino=off";
    EXPECT_EQ(::mount("overlay", merged.c_str(), "overlay", 0, data.c_str()), 0) << std::strerror(errno);
    return merged;
  }
  static std::vector<std::string> Names(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  static int StatErrno(const std::string& path) {
    struct stat attributes {};
    return ::lstat(path.c_str(), &attributes) == 0 ? 0 : errno;
  }

  const test::TemporaryDirectory root_;
  std::unique_ptr<test::LazyParts> parts_;
};

std::string TreeTar() {
  TarBuilder tar;
  tar.File("first", NoiseBytes(5'000, 1)).Directory("lib");
  for (uint64_t i = 0; i < 20; ++i) tar.File("lib/lib" + std::to_string(i) + ".so", NoiseBytes(7'000 + i * 911, i));
  return tar.Finish();
}

TEST_F(FieldReport, A1_LayersOfSeveralGzipMembersAreWholeTrees) {
  const std::string tar = TreeTar();
  const auto members = [&](size_t count) {
    std::string blob;
    for (size_t i = 0; i < count; ++i) {
      const size_t begin = tar.size() * i / count, end = tar.size() * (i + 1) / count;
      blob += test::GzipMember(tar.substr(begin, end - begin));
    }
    return blob;
  };
  const size_t cut = tar.size() / 2 + 100;  // in the middle of a file
  int number = 0;
  for (const std::string& blob :
       {members(2), members(20),
        test::GzipMember(tar.substr(0, cut)) + test::GzipMember("") + test::GzipMember(tar.substr(cut))}) {
    SCOPED_TRACE(number);
    const IndexedLayer layer = test::IndexLayer(tar, blob);
    EXPECT_GT(layer.table->span_count(), 10u);
    const auto mount = Mount(layer, "m" + std::to_string(++number));
    EXPECT_EQ(test::Differences(test::WalkTable(*layer.table, tar), test::WalkDirectory(mount->path())), "");
  }
}

// Zeros after the last member are no gzip for containerd's unpacker either: such a layer is left to it, not served in
// part.
TEST_F(FieldReport, A1_ALayerWithPaddingAfterItsLastMemberIsNotIndexed) {
  const std::string tar = TreeTar();
  EXPECT_THROW(test::IndexLayer(tar, test::GzipMember(tar) + std::string(512, '\0')), std::runtime_error);
}

TEST_F(FieldReport, A2_AGzipHeaderMayHaveEveryField) {
  const std::string tar = TreeTar();
  test::GzipRecipe recipe;
  recipe.header = {.extra = std::string(300, 'x'), .name = "layer.tar", .comment = "a comment", .checksum = true};
  const IndexedLayer layer = test::IndexLayer(tar, test::GzipMember(tar, recipe));
  const auto mount = Mount(layer, "one");
  EXPECT_TRUE(*ReadFile(mount->path() + "/first") == NoiseBytes(5'000, 1));
  EXPECT_EQ(test::Differences(test::WalkTable(*layer.table, tar), test::WalkDirectory(mount->path())), "");
}

TEST_F(FieldReport, D1_HolesAndBlocksOfAFileAreThoseOfAnOrdinaryOne) {
  constexpr off_t kSize = 1'437'832;
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("f", NoiseBytes(kSize, 1)).Finish());
  const auto mount = Mount(layer, "one");
  const UniqueFd file = *OpenFile(mount->path() + "/f", O_RDONLY);
  struct stat attributes {};
  ASSERT_EQ(::fstat(file.get(), &attributes), 0);
  EXPECT_GE(attributes.st_blocks * 512, kSize);
  const auto seek = [&](off_t offset, int whence) {
    const off_t at = ::lseek(file.get(), offset, whence);
    return at < 0 ? -static_cast<off_t>(errno) : at;
  };
  for (const off_t at : {off_t{0}, kSize / 2, kSize - 1}) {
    EXPECT_EQ(seek(at, SEEK_DATA), at);
    EXPECT_EQ(seek(at, SEEK_HOLE), kSize);
  }
  for (const off_t at : {kSize, kSize + 1}) {
    EXPECT_EQ(seek(at, SEEK_DATA), -ENXIO);
    EXPECT_EQ(seek(at, SEEK_HOLE), -ENXIO);
  }
}

TEST_F(FieldReport, D1_CpWithSparseFilesEnds) {
  const std::string content = NoiseBytes(700'000, 1) + std::string(500'000, '\0') + NoiseBytes(237'832, 2);
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("f", content).Finish());
  const auto mount = Mount(layer, "one");
  const std::string copy = "timeout 10 cp --sparse=always " + mount->path() + "/f " + (root_ / "copy");
  ASSERT_EQ(std::system(copy.c_str()), 0);
  EXPECT_TRUE(*ReadFile(root_ / "copy") == content);
}

TEST_F(FieldReport, D4_WhatALayerDeletesIsGoneInTheOverlay) {
  const IndexedLayer below = MakeIndexedLayer(TarBuilder()
                                                  .File("a", "deleted above")
                                                  .File("dir/old", "hidden above")
                                                  .File("again", "made again above")
                                                  .File("kept", "stays")
                                                  .Finish());
  const IndexedLayer above = MakeIndexedLayer(TarBuilder()
                                                  .Whiteout("a")
                                                  .Directory("dir")
                                                  .Opaque("dir")
                                                  .File("dir/new", "1")
                                                  .Whiteout("never/was/there")
                                                  .Whiteout("again")
                                                  .File("again", "anew")
                                                  .Finish());
  const auto lower = Mount(below, "lower");
  const auto upper = Mount(above, "upper");
  for (const bool sealed : {false, true}) {
    std::string lowers = upper->path() + ":" + lower->path();
    if (sealed) {
      for (test::LazyMount* mount : {lower.get(), upper.get()}) {
        mount->Fill();
        ASSERT_EQ(mount->Seal(), OkStatus());
      }
      lowers = upper->store().sealed_path() + ":" + lower->store().sealed_path();
    }
    const std::string merged = Overlay(lowers);
    EXPECT_THAT(Names(merged), ElementsAre("again", "dir", "kept", "never"));
    EXPECT_EQ(StatErrno(merged + "/a"), ENOENT);
    EXPECT_THAT(Names(merged + "/dir"), ElementsAre("new"));
    EXPECT_EQ(StatErrno(merged + "/dir/old"), ENOENT);
    EXPECT_EQ(StatErrno(merged + "/never/was/there"), ENOENT);
    EXPECT_EQ(*ReadFile(merged + "/again"), "anew");
    ASSERT_EQ(::umount(merged.c_str()), 0);
  }
}

TEST_F(FieldReport, D4_AWhiteoutInTheOnlyLayerIsNotVisible) {
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().Whiteout("gone").File("here", "1").Finish());
  const auto mount = Mount(layer, "one");
  const std::string merged = Overlay(mount->path());
  EXPECT_THAT(Names(merged), ElementsAre("here"));
  EXPECT_EQ(StatErrno(merged + "/gone"), ENOENT);
}

TEST_F(FieldReport, D6_FilesOfEverySizeCanBeOpenedReadMappedAndSent) {
  constexpr size_t kSpan = 4096;
  TarBuilder tar;
  const std::vector<size_t> sizes = {0, 1, kSpan - 1, kSpan, kSpan + 1};
  for (const size_t size : sizes) tar.File("f" + std::to_string(size), NoiseBytes(size, size));
  tar.File("last", NoiseBytes(1024, 9));
  std::string bytes = tar.Finish();
  bytes.resize(bytes.size() - 1024);  // without its closing blocks the last file ends with the layer
  for (const Compression compression : {Compression::kGzip, Compression::kUncompressed}) {
    const IndexedLayer layer = MakeIndexedLayer(bytes, {.compression = compression, .span_size = kSpan});
    ASSERT_EQ(layer.table->uncompressed_size(), layer.tar.size());
    const auto mount = Mount(layer, compression == Compression::kGzip ? "gzip" : "plain");
    for (const auto& [path, entry] : test::WalkTable(*layer.table, layer.tar)) {
      if (!S_ISREG(entry.mode)) continue;
      SCOPED_TRACE(path);
      const UniqueFd file = *OpenFile(mount->path() + "/" + path, O_RDONLY);
      const std::string content = *ReadFile(mount->path() + "/" + path);
      EXPECT_EQ(oci::Digest::Of(content), entry.content);
      if (!content.empty()) {
        void* mapped = ::mmap(nullptr, content.size(), PROT_READ, MAP_PRIVATE, file.get(), 0);
        ASSERT_NE(mapped, MAP_FAILED);
        EXPECT_EQ(std::memcmp(mapped, content.data(), content.size()), 0);
        ::munmap(mapped, content.size());
      }
      const UniqueFd out = *OpenFile(root_ / "sent", O_RDWR | O_CREAT | O_TRUNC);
      size_t sent = 0;
      for (ssize_t count = 1; count > 0; sent += static_cast<size_t>(count)) {
        count = ::sendfile(out.get(), file.get(), nullptr, 1 << 20);
        ASSERT_GE(count, 0) << std::strerror(errno);
      }
      EXPECT_EQ(sent, content.size());
      EXPECT_TRUE(*ReadFile(root_ / "sent") == content);
    }
  }
}

TEST_F(FieldReport, D7_EntriesForTheRootItselfMakeAnOrdinaryTree) {
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder()
                                                  .Directory("./", {.mode = 0700})
                                                  .Directory("/", {.mode = 0700})
                                                  .Directory(".", {.mode = 0700})
                                                  .File("./a", "1")
                                                  .File("/b", "2")
                                                  .File("c//d", "3")
                                                  .File("e/./f", "4")
                                                  .Finish());
  const auto mount = Mount(layer, "one");
  std::vector<std::string> paths;
  const test::Tree tree = test::WalkDirectory(mount->path());
  for (const auto& [path, entry] : tree) paths.push_back(path);
  EXPECT_THAT(paths, ElementsAre("", "a", "b", "c", "c/d", "e", "e/f"));
  EXPECT_EQ(tree.at("").mode, S_IFDIR | 0755u);  // field report C16
  EXPECT_EQ(*ReadFile(mount->path() + "/e/f"), "4");
}

TEST_F(FieldReport, D16_WhatWasFilledIsReadWithoutTheOrigin) {
  TarBuilder tar;
  for (int i = 0; i < 200; ++i) tar.File("d/f" + std::to_string(i), NoiseBytes(3'000, static_cast<uint64_t>(i)));
  const IndexedLayer layer = MakeIndexedLayer(tar.Finish());
  const auto mount = Mount(layer, "one");
  mount->Fill();
  mount->CutOff();
  mount->Remount();
  EXPECT_EQ(test::Differences(test::WalkTable(*layer.table, layer.tar), test::WalkDirectory(mount->path())), "");
}

TEST_F(FieldReport, D15_AFaultOfTheNetworkIsNotRemembered) {
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("f", NoiseBytes(50'000, 1)).Finish());
  const auto mount = Mount(layer, "one");
  mount->CutOff();
  EXPECT_EQ(StatusErrno(ReadFile(mount->path() + "/f").status()), EIO);
  mount->Reconnect();
  EXPECT_TRUE(*ReadFile(mount->path() + "/f") == NoiseBytes(50'000, 1));
}

}  // namespace
}  // namespace soci
