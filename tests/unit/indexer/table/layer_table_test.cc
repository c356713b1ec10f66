// Opening tables, sound and damaged, and looking things up in them.
#include "indexer/table/layer_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "indexer/base/file_io.h"
#include "indexer/table/table_compiler.h"
#include "tests/layers/indexed_layer.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::TarBuilder;

TarBuilder Sample() {
  TarBuilder tar;
  tar.Directory("b").File("b/big", NoiseBytes(50'000, 1)).File("b/a", "tiny").Symlink("a", "b/big").File("empty", "");
  tar.HardLink("c", "b/big").File("last", NoiseBytes(9'000, 2), {.mode = 04755, .mtime_nanoseconds = 7});
  return tar;
}

TEST(LayerTable, InodesAreNumberedBreadthFirstOverSortedNames) {
  const IndexedLayer layer = MakeIndexedLayer(Sample().Finish());
  const LayerTable& table = *layer.table;
  const auto number = [&](InodeId folder, std::string_view name) { return ToNumber(*table.Lookup(folder, name)); };
  EXPECT_EQ(number(InodeId::kRoot, "a"), 2u);
  EXPECT_EQ(number(InodeId::kRoot, "b"), 3u);
  EXPECT_EQ(number(InodeId::kRoot, "c"), 4u);
  EXPECT_EQ(number(InodeId::kRoot, "empty"), 5u);
  EXPECT_EQ(number(InodeId::kRoot, "last"), 6u);
  EXPECT_EQ(number(InodeId{3}, "a"), 7u);
  EXPECT_EQ(number(InodeId{3}, "big"), 4u);
  EXPECT_EQ(table.inode_count(), 7u);
  EXPECT_EQ(table.Parent(InodeId{3}), InodeId::kRoot);
}

TEST(LayerTable, FoldersWithoutAMemberOfTheirOwnAreTold) {
  EXPECT_FALSE(MakeIndexedLayer(Sample().Finish()).table->has_implied_directories());
  EXPECT_TRUE(MakeIndexedLayer(TarBuilder().File("a/b", "x").Finish()).table->has_implied_directories());
  EXPECT_TRUE(MakeIndexedLayer(TarBuilder().Whiteout("a/b").Finish()).table->has_implied_directories());
  EXPECT_FALSE(
      MakeIndexedLayer(TarBuilder().File("a/b", "x").Directory("a").Finish()).table->has_implied_directories());
}

TEST(LayerTable, UnknownThingsAreAbsentAndNothingMore) {
  const IndexedLayer layer = MakeIndexedLayer(Sample().Finish());
  const LayerTable& table = *layer.table;
  EXPECT_FALSE(table.Attributes(InodeId{0}));
  EXPECT_FALSE(table.Attributes(InodeId{8}));
  EXPECT_FALSE(table.Lookup(InodeId::kRoot, "z"));
  EXPECT_FALSE(table.Lookup(InodeId{2}, "a"));
  EXPECT_EQ(table.ChildCount(InodeId{99}), 0u);
  EXPECT_TRUE(table.Child(InodeId::kRoot, 99).name.empty());
  EXPECT_TRUE(table.LinkTarget(InodeId::kRoot).empty());
  EXPECT_EQ(table.LinkTarget(InodeId{2}), "b/big");
}

TEST(LayerTable, SpansCoverTheArchiveAndContentsLieWhereTheTarHasThem) {
  for (const Compression compression : {Compression::kGzip, Compression::kUncompressed}) {
    const IndexedLayer layer = MakeIndexedLayer(Sample().Finish(), {.compression = compression});
    const LayerTable& table = *layer.table;
    ASSERT_GT(table.span_count(), 4u);
    uint64_t end = 0;
    for (uint32_t i = 0; i < table.span_count(); ++i) {
      const UncompressedRange range = table.Extent(SpanId{i}).uncompressed;
      EXPECT_EQ(range.begin, end);
      EXPECT_LT(range.begin, range.end);
      EXPECT_EQ(table.SpanAt(range.begin), SpanId{i});
      EXPECT_EQ(table.SpanAt(range.end - 1), SpanId{i});
      end = range.end;
    }
    EXPECT_EQ(end, table.uncompressed_size());
    EXPECT_EQ(table.SpanAt(UINT64_MAX), SpanId{table.span_count() - 1});
    const InodeAttributes big = *table.Attributes(*table.Lookup(InodeId::kRoot, "c"));
    EXPECT_EQ(layer.tar.substr(big.content.begin, big.size), NoiseBytes(50'000, 1));
    EXPECT_EQ(table.FirstContentEndingAfter(big.content.end - 1), 0u);
    EXPECT_EQ(table.FirstContentEndingAfter(big.content.end), 1u);
    EXPECT_EQ(table.FirstContentEndingAfter(end), table.content_count());
  }
}

TEST(LayerTable, WindowsAreTheBytesBeforeTheirSpans) {
  const IndexedLayer layer = MakeIndexedLayer(Sample().Finish());
  Window window;
  ASSERT_TRUE(layer.table->LoadWindow(SpanId{3}, window).ok());
  const uint64_t begin = layer.table->Extent(SpanId{3}).uncompressed.begin;
  ASSERT_LT(begin, kWindowSize);
  EXPECT_EQ(AsText(window).substr(kWindowSize - begin), layer.tar.substr(0, begin));
  EXPECT_EQ(layer.table->LoadWindow(SpanId{9999}, window).code(), absl::StatusCode::kInvalidArgument);
}

TEST(LayerTable, FingerprintsInTheTableAreThoseOfTheTarsHeaders) {
  const IndexedLayer layer = MakeIndexedLayer(Sample().Finish());
  ASSERT_EQ(layer.table->header_count(), layer.ztoc.entries.size());
  for (uint64_t i = 0; i < layer.table->header_count(); ++i) {
    const MemberHeader header = layer.table->Header(i);
    EXPECT_EQ(header.range, layer.ztoc.entries[i].header);
    EXPECT_EQ(header.fingerprint, MemberFingerprint(layer.ztoc.entries[i]));
  }
}

TEST(LayerTable, AFileOpensAsTheBytesDo) {
  const test::TemporaryDirectory folder;
  const IndexedLayer layer = MakeIndexedLayer(Sample().Finish());
  ASSERT_TRUE(WriteFileAtomic(folder / "table", layer.table_bytes).ok());
  const auto opened = LayerTable::Open(folder / "table", layer.digest);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->inode_count(), layer.table->inode_count());
  EXPECT_EQ(LayerTable::Open(folder / "none", layer.digest).status().code(), absl::StatusCode::kNotFound);
}

// The formats' part of the speed gate: the start fetches the one and writes the other.
TEST(LayerTable, E12_ZtocAndTableOfAFixedLayerAreNotATenthLargerThanInTheVersionBefore) {
  constexpr uint64_t kFiles = 2'000, kKeptZtoc = 613'152, kKeptTable = 306'256;
  TarBuilder tar;
  for (uint64_t i = 0; i < kFiles; ++i) {
    const std::string folder = "usr/lib/python3/site-packages/package" + std::to_string(i / 50);
    if (i % 50 == 0) tar.Directory(folder);
    tar.File(folder + "/module_" + std::to_string(i) + ".py", std::string(3'000, 'x'));
  }
  IndexedLayer layer = MakeIndexedLayer(tar.Finish(), {.span_size = 1 << 20, .block_size = 64 << 10});
  const uint64_t table = layer.table_bytes.size(), ztoc = EncodeZtoc(std::move(layer.ztoc))->size();
  EXPECT_LE(ztoc, kKeptZtoc * 11 / 10);
  EXPECT_LE(table, kKeptTable * 11 / 10);
}

TEST(LayerTable, TheTableOfAnotherLayerIsRefused) {
  const IndexedLayer layer = MakeIndexedLayer(Sample().Finish());
  const oci::LayerDigest other(oci::Digest::Of("another"));
  EXPECT_EQ(LayerTable::FromBytes(layer.table_bytes, other).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(LayerTable, AnyFlippedByteIsFoundWhenOpeningOrLoadingTheWindow) {
  const IndexedLayer layer = MakeIndexedLayer(Sample().Finish());
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = layer.table_bytes;
    bytes[random() % bytes.size()] ^= static_cast<char>(1 << (random() % 8));
    const auto opened = LayerTable::FromBytes(bytes, layer.digest);
    if (!opened.ok()) continue;
    // Only windows (checked when used) and the padding between sections are left.
    Window window;
    for (uint32_t i = 0; i < (*opened)->span_count(); ++i) (void)(*opened)->LoadWindow(SpanId{i}, window);
    EXPECT_EQ((*opened)->inode_count(), layer.table->inode_count());
  }
}

TEST(LayerTable, AnyShorterFileIsRefused) {
  const IndexedLayer layer = MakeIndexedLayer(Sample().Finish());
  for (size_t size = 0; size < layer.table_bytes.size(); size += 97) {
    EXPECT_FALSE(LayerTable::FromBytes(layer.table_bytes.substr(0, size), layer.digest).ok()) << size;
  }
}

TEST(LayerTable, ALayerWithoutAnythingInItIsATable) {
  for (const Compression compression : {Compression::kGzip, Compression::kUncompressed}) {
    const IndexedLayer layer = MakeIndexedLayer(TarBuilder().Finish(), {.compression = compression});
    EXPECT_EQ(layer.table->inode_count(), 1u);
    EXPECT_EQ(layer.table->span_count(), 1u);
    EXPECT_FALSE(layer.table->has_xattrs());
  }
  const IndexedLayer nothing = MakeIndexedLayer("");
  EXPECT_EQ(nothing.table->span_count(), 0u);
}

}  // namespace
}  // namespace soci
