// zTOCs that lie. Each is refused with its reason, at once and in little memory.
#include <flatbuffers/flatbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/ztoc/layer_scanner.h"
#include "proto/ztoc/ztoc_generated.h"
#include "tests/gzip/gzip_maker.h"
#include "tests/gzip/scanned_gzip.h"
#include "tests/support/tar_builder.h"

namespace soci {
namespace {

using ::testing::HasSubstr;

Ztoc GoodZtoc() {
  const std::string tar = test::TarBuilder()
                              .File("a", test::ProseBytes(9'000, 1), {.xattrs = {{"user.x", "y"}}})
                              .HardLink("h", "a")
                              .File("b", test::NoiseBytes(9'000, 2))
                              .Finish();
  const std::string blob = test::GzipMember(tar, {.compressor = test::Compressor::kZlibFlushing, .block = 2000});
  test::TextStream stream(blob);
  return Unpack(ScanLayer(stream, Compression::kGzip, {.span_size = 3000})->ztoc);
}

template <typename Change>
std::string WhyRefused(Change change) {
  Ztoc ztoc = GoodZtoc();
  change(ztoc);
  const Result<std::string> bytes = EncodeZtoc(ztoc);
  if (!bytes.ok()) return bytes.status().ToString();
  const Result<Ztoc> read = DecodeZtoc(*bytes);
  return read.ok() ? "accepted" : std::string(Message(read.status()));
}

// What reads in little memory refuses what the other refuses, and takes entries in any order.
TEST(HostileZtoc, AViewSaysTheSame) {
  Ztoc swapped = GoodZtoc();
  std::swap(swapped.entries.front(), swapped.entries.back());
  const std::string good = EncodeZtoc(swapped).value();
  const Result<ZtocView> view = ViewZtoc(good);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(std::vector<tar::Entry>(view->entries.begin(), view->entries.end()), DecodeZtoc(good)->entries);
  swapped.entries[1].header.end += 1;
  const std::string bad = EncodeZtoc(swapped).value();
  EXPECT_FALSE(DecodeZtoc(bad).ok());
  EXPECT_EQ(ViewZtoc(bad).status(), DecodeZtoc(bad).status());
}

TEST(HostileZtoc, IsOtherwiseGood) {
  EXPECT_EQ(WhyRefused([](Ztoc&) {}), "accepted");
}

TEST(HostileZtoc, WithSpansThatGoBackwardsOrLieOverEachOtherIsRefused) {
  EXPECT_THAT(WhyRefused([](Ztoc& z) { std::swap(z.checkpoints[1], z.checkpoints[2]); }), HasSubstr("backwards"));
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.checkpoints[2].compressed = z.checkpoints[1].compressed; }),
              HasSubstr("span 1 is empty"));
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.checkpoints[2].uncompressed = z.checkpoints[1].uncompressed; }),
              HasSubstr("decodes to nothing"));
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.checkpoints[2].uncompressed = z.checkpoints[1].uncompressed - 1; }),
              HasSubstr("decodes backwards"));
}

TEST(HostileZtoc, WithASpanOutsideTheLayerIsRefused) {
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.compressed_size = z.checkpoints.back().compressed; }), HasSubstr("is empty"));
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.checkpoints[0] = {0, 0, 3}; }), HasSubstr("before the layer"));
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.checkpoints[0].uncompressed = 1; }), HasSubstr("begin at 0"));
}

TEST(HostileZtoc, WithASpanThatExpandsWithoutEndIsRefused) {
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.uncompressed_size = uint64_t{1} << 40; }), HasSubstr("cannot expand"));
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.uncompressed_size = uint64_t{1} << 63; }), HasSubstr("negative size"));
}

TEST(HostileZtoc, WithMembersOverEachOtherOrOutsideIsRefused) {
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.entries[0].size += 600; }), HasSubstr("lies over"));
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.entries[2].size += 100'000; }), HasSubstr("outside the archive"));
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.entries[2].size = -1; }), HasSubstr("outside the archive"));
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.entries[0].header.end = 100; }), HasSubstr("lies over"));
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.entries[2].header.end = uint64_t{1} << 61; }),
              HasSubstr("outside the archive"));
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.entries[2].header.end = uint64_t{1} << 63; }), HasSubstr("negative offset"));
}

TEST(HostileZtoc, WithASparseFileIsRefusedForItsContentCannotBeTold) {
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.entries[2].pax["GNU.sparse.map"] = "0,1"; }), HasSubstr("is sparse"));
}

TEST(HostileZtoc, ThatIsNoFlatBufferIsRefused) {
  EXPECT_FALSE(DecodeZtoc("").ok());
  EXPECT_FALSE(DecodeZtoc("x").ok());
  EXPECT_FALSE(DecodeZtoc(std::string(1000, '\xff')).ok());
  EXPECT_FALSE(DecodeZtoc(std::string(1000, '\0')).ok());
}

TEST(HostileZtoc, ThatIsCutShortOrHasAnyByteChangedNeverDoesHarm) {
  Ztoc small = GoodZtoc();
  small.checkpoints.resize(1);
  small.windows.resize(1);
  small.span_digests.resize(1);
  const std::string bytes = *EncodeZtoc(small);
  for (size_t size = 0; size < bytes.size(); size += size < 2000 ? 1 : 997) {
    static_cast<void>(DecodeZtoc(bytes.substr(0, size)));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = bytes;
    const size_t table_end = std::min<size_t>(bytes.size(), 2000);
    for (int j = 0; j < 4; ++j) damaged[random() % table_end] = static_cast<char>(random());
    static_cast<void>(DecodeZtoc(damaged));
  }
}

TEST(HostileZtoc, ReadsTheSameFromUnalignedMemory) {
  const std::string bytes = *EncodeZtoc(GoodZtoc());
  const std::string shifted = "x" + bytes;
  EXPECT_TRUE(DecodeZtoc(std::string_view(shifted).substr(1)).ok());
}

// A FlatBuffer may name one table, or one text, as often as it likes: four bytes each.
std::string WithRepeats(size_t entries, size_t name_size) {
  flatbuffers::FlatBufferBuilder builder;
  const auto name = builder.CreateString(std::string(name_size, 'n'));
  const auto type = builder.CreateString("reg");
  fbs::FileMetadataBuilder file(builder);
  file.add_name(name);
  file.add_type(type);
  const auto one = file.Finish();
  const auto files = builder.CreateVector(std::vector(entries, one));
  fbs::TOCBuilder toc_builder(builder);
  toc_builder.add_metadata(files);
  const auto toc = toc_builder.Finish();
  const std::string zinfo(12 + 32785, '\0');
  std::string counted = zinfo;
  counted[0] = 1;
  counted[12] = 10;
  const auto checkpoints = builder.CreateVector(reinterpret_cast<const uint8_t*>(counted.data()), counted.size());
  const auto digest = builder.CreateString("sha256:" + std::string(64, '0'));
  const auto digests = builder.CreateVector(std::vector(1, digest));
  fbs::CompressionInfoBuilder info_builder(builder);
  info_builder.add_span_digests(digests);
  info_builder.add_checkpoints(checkpoints);
  const auto info = info_builder.Finish();
  fbs::ZtocBuilder root(builder);
  root.add_toc(toc);
  root.add_compressed_archive_size(100);
  root.add_compression_info(info);
  builder.Finish(root.Finish());
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

TEST(HostileZtoc, ThatNamesOneTableAMillionTimesIsRefusedBeforeItGrows) {
  const Result<Ztoc> read = DecodeZtoc(WithRepeats(1'000'000, 10));
  EXPECT_THAT(std::string(Message(read.status())), HasSubstr("entries take more room"));
}

TEST(HostileZtoc, ThatNamesOneLongTextAgainAndAgainIsRefusedBeforeItGrows) {
  const Result<Ztoc> read = DecodeZtoc(WithRepeats(2'000, 500'000));
  EXPECT_THAT(std::string(Message(read.status())), HasSubstr("texts take more room"));
}

TEST(HostileZtoc, WithMoreOrFewerDigestsThanSpansIsRefused) {
  EXPECT_THAT(WhyRefused([](Ztoc& z) { z.span_digests.pop_back(); }),
              HasSubstr("without its window or its span's digest"));
  Ztoc plain = GoodZtoc();
  plain.compression = Compression::kUncompressed;
  plain.compressed_size = uint64_t{1} << 40;
  plain.span_size = 1;
  plain.checkpoints.clear();
  plain.windows.clear();
  EXPECT_THAT(std::string(Message(DecodeZtoc(*EncodeZtoc(plain)).status())), HasSubstr("1099511627776 spans, but"));
}

}  // namespace
}  // namespace soci
