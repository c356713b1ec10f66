// How much a real mount fetches for what is read, as counts of spans and bytes; by the numbers of our list of field
// reports where one asked.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <set>

#include "indexer/base/file_io.h"
#include "tests/lazy/lazy_mount.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::TarBuilder;

class Fetched : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
    parts_ = std::make_unique<test::LazyParts>();
  }
  void Mount(const IndexedLayer& layer) { mount_ = std::make_unique<test::LazyMount>(*parts_, root_.path(), layer); }

  // Compressed bytes of the spans that these bytes of the tar lie in.
  void Touch(const LayerTable& table, UncompressedRange wanted) {
    for (SpanId span = table.SpanAt(wanted.begin); span <= table.SpanAt(wanted.end - 1); span = Next(span)) {
      if (touched_.insert(span).second) touched_bytes_ += table.Extent(span).compressed.size();
    }
  }

  const test::TemporaryDirectory root_;
  std::unique_ptr<test::LazyParts> parts_;
  std::unique_ptr<test::LazyMount> mount_;
  std::set<SpanId> touched_;
  uint64_t touched_bytes_ = 0;
};

// What is guessed at the beginning, before a file read at random is known as such, is the rest.
TEST_F(Fetched, TwoThousandRandomPagesOfABigFileCostTheirSpans) {
  constexpr uint64_t kSize = 64 << 20;
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("big", NoiseBytes(kSize, 1)).Finish(),
                                              {.compression = Compression::kUncompressed, .span_size = 16 << 10});
  Mount(layer);
  const UniqueFd file = *OpenFile(mount_->path() + "/big", O_RDONLY);
  ASSERT_EQ(::posix_fadvise(file.get(), 0, 0, POSIX_FADV_RANDOM), 0);
  const auto inode = layer.table->Lookup(InodeId::kRoot, "big");
  ASSERT_TRUE(inode);
  const UncompressedRange content = layer.table->Attributes(*inode)->content;
  std::mt19937_64 random(5);
  char page[4096];
  for (int i = 0; i < 2000; ++i) {
    const uint64_t begin = random() % (kSize / sizeof page) * sizeof page;
    ASSERT_EQ(::pread(file.get(), page, sizeof page, static_cast<off_t>(begin)), static_cast<ssize_t>(sizeof page));
    Touch(*layer.table, {content.begin + begin, content.begin + begin + sizeof page});
  }
  EXPECT_LE(mount_->bytes_fetched(), touched_bytes_ * 105 / 100);
  EXPECT_LE(mount_->store().present_count(), touched_.size() * 105 / 100);
}

TEST_F(Fetched, E2_StatAndReadOfManySmallFilesCostTheirSpans) {
  constexpr uint64_t kFiles = 4000;
  TarBuilder tar;
  for (uint64_t i = 0; i < kFiles; ++i) {
    if (i % 100 == 0) tar.Directory("d" + std::to_string(i / 100));
    tar.File("d" + std::to_string(i / 100) + "/f" + std::to_string(i), NoiseBytes(2000, i));
  }
  const IndexedLayer layer = MakeIndexedLayer(tar.Finish(), {.span_size = 64 << 10});
  Mount(layer);
  std::mt19937_64 random(9);
  for (int i = 0; i < 500; ++i) {
    const uint64_t number = random() % kFiles;
    const std::string folder = "d" + std::to_string(number / 100), name = "f" + std::to_string(number);
    struct stat attributes {};
    ASSERT_EQ(::stat((mount_->path() + "/" + folder + "/" + name).c_str(), &attributes), 0);
    ASSERT_TRUE(*ReadFile(mount_->path() + "/" + folder + "/" + name) == NoiseBytes(2000, number));
    const auto inode = layer.table->Lookup(*layer.table->Lookup(InodeId::kRoot, folder), name);
    Touch(*layer.table, layer.table->Attributes(*inode)->content);
  }
  EXPECT_LE(mount_->store().present_count(), touched_.size() * 12 / 10);
}

TEST_F(Fetched, E7_SpansOfAnySizeAreReadRight) {
  const std::string content = NoiseBytes(3'000'000, 3);
  for (const uint64_t span_size : {uint64_t{1} << 10, uint64_t{64} << 20}) {
    const IndexedLayer layer =
        MakeIndexedLayer(TarBuilder().File("f", content).Finish(), {.span_size = span_size, .block_size = 512});
    Mount(layer);
    EXPECT_TRUE(*ReadFile(mount_->path() + "/f") == content) << span_size;
    mount_.reset();
    std::filesystem::remove_all(root_ / "layer");
  }
}

}  // namespace
}  // namespace soci
