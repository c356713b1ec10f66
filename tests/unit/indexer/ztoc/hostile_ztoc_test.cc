// zTOCs that lie. Each is refused with its reason, at once and in little memory.
#include <flatbuffers/flatbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/ztoc/layer_scanner.h"
#include "proto/ztoc/ztoc_generated.h"
#include "tests/gzip/gzip_maker.h"
#include "tests/gzip/scanned_gzip.h"
#include "tests/support/tar_builder.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci {
namespace {

using ::testing::HasSubstr;

test::Ztoc GoodZtoc() {
  const std::string tar = test::TarBuilder()
                              .File("a", test::ProseBytes(9'000, 1), {.xattrs = {{"user.x", "y"}}})
                              .HardLink("h", "a")
                              .File("b", test::NoiseBytes(9'000, 2))
                              .Finish();
  const std::string blob = test::GzipMember(tar, {.compressor = test::Compressor::kZlibFlushing, .block = 2000});
  test::TextStream stream(blob);
  return test::Unpack(ScanLayer(stream, Compression::kGzip, {.span_size = 3000})->ztoc);
}

template <typename Change>
std::string WhyRefused(Change change) {
  test::Ztoc ztoc = GoodZtoc();
  change(ztoc);
  const Result<std::string> bytes = EncodeZtoc(ztoc);
  if (!bytes.ok()) return bytes.status().ToString();
  const Result<test::Ztoc> read = test::DecodeZtoc(*bytes);
  return read.ok() ? "accepted" : std::string(Message(read.status()));
}

TEST(HostileZtoc, WithEntriesOutOfOrderIsReadInOrder) {
  test::Ztoc swapped = GoodZtoc();
  std::swap(swapped.entries.front(), swapped.entries.back());
  const Result<test::Ztoc> read = test::DecodeZtoc(EncodeZtoc(swapped).value());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->entries, GoodZtoc().entries);
  swapped.entries[1].header.end += 1;
  EXPECT_THAT(std::string(Message(test::DecodeZtoc(EncodeZtoc(swapped).value()).status())), HasSubstr("lies over"));
}

TEST(HostileZtoc, AViewIsReadAsOftenAsOneLikesAndByTwoAtOnce) {
  const std::string bytes = EncodeZtoc(GoodZtoc()).value();
  const ZtocView view = ViewZtoc(bytes).value();
  const auto one = view.entries->Open(), other = view.entries->Open();
  for (const tar::Entry& entry : GoodZtoc().entries) {
    EXPECT_EQ(*one->Next(), entry);
    EXPECT_EQ(*other->Next(), entry);
  }
  EXPECT_EQ(one->Next(), nullptr);
  EXPECT_EQ(one->Next(), nullptr);
}

TEST(HostileZtoc, IsOtherwiseGood) {
  EXPECT_EQ(WhyRefused([](test::Ztoc&) {}), "accepted");
}

TEST(HostileZtoc, WithSpansThatGoBackwardsOrLieOverEachOtherIsRefused) {
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { std::swap(z.checkpoints[1], z.checkpoints[2]); }), HasSubstr("backwards"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.checkpoints[2].compressed = z.checkpoints[1].compressed; }),
              HasSubstr("span 1 is empty"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.checkpoints[2].uncompressed = z.checkpoints[1].uncompressed; }),
              HasSubstr("decodes to nothing"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.checkpoints[2].uncompressed = z.checkpoints[1].uncompressed - 1; }),
              HasSubstr("decodes backwards"));
}

TEST(HostileZtoc, WithASpanOutsideTheLayerIsRefused) {
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.compressed_size = z.checkpoints.back().compressed; }),
              HasSubstr("is empty"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.checkpoints[0] = {0, 0, 3}; }), HasSubstr("before the layer"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.checkpoints[0].uncompressed = 1; }), HasSubstr("begin at 0"));
}

TEST(HostileZtoc, WithASpanThatExpandsWithoutEndIsRefused) {
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.uncompressed_size = uint64_t{1} << 40; }), HasSubstr("cannot expand"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.uncompressed_size = uint64_t{1} << 63; }), HasSubstr("negative size"));
}

TEST(HostileZtoc, WithMembersOverEachOtherOrOutsideIsRefused) {
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[0].size += 600; }), HasSubstr("lies over"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[2].size += 100'000; }), HasSubstr("outside the archive"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[2].size = -1; }), HasSubstr("outside the archive"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[0].header.end = 100; }), HasSubstr("lies over"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[2].header.end = uint64_t{1} << 61; }),
              HasSubstr("outside the archive"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[2].header.end = uint64_t{1} << 63; }),
              HasSubstr("negative offset"));
}

TEST(HostileZtoc, WithASparseFileIsRefusedForItsContentCannotBeTold) {
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[2].pax["GNU.sparse.map"] = "0,1"; }), HasSubstr("is sparse"));
}

TEST(HostileZtoc, ThatIsNoFlatBufferIsRefused) {
  EXPECT_FALSE(test::DecodeZtoc("").ok());
  EXPECT_FALSE(test::DecodeZtoc("x").ok());
  EXPECT_FALSE(test::DecodeZtoc(std::string(1000, '\xff')).ok());
  EXPECT_FALSE(test::DecodeZtoc(std::string(1000, '\0')).ok());
}

TEST(HostileZtoc, ThatIsCutShortOrHasAnyByteChangedNeverDoesHarm) {
  test::Ztoc small = GoodZtoc();
  small.checkpoints.resize(1);
  small.windows.resize(1);
  small.span_digests.resize(1);
  const std::string bytes = *EncodeZtoc(small);
  for (size_t size = 0; size < bytes.size(); size += size < 2000 ? 1 : 997) {
    static_cast<void>(test::DecodeZtoc(bytes.substr(0, size)));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = bytes;
    const size_t table_end = std::min<size_t>(bytes.size(), 2000);
    for (int j = 0; j < 4; ++j) damaged[random() % table_end] = static_cast<char>(random());
    static_cast<void>(test::DecodeZtoc(damaged));
  }
}

TEST(HostileZtoc, IsNotReadFromUnalignedMemory) {
  const std::string shifted = "x" + *EncodeZtoc(GoodZtoc());
  EXPECT_TRUE(absl::IsInternal(ViewZtoc(std::string_view(shifted).substr(1)).status()));
}

// A FlatBuffer may name one table, or one text, as often as it likes: four bytes each.
std::string WithRepeats(size_t entries, size_t tables, size_t name_size) {
  flatbuffers::FlatBufferBuilder builder;
  const auto name = builder.CreateString(std::string(name_size, 'n'));
  const auto type = builder.CreateString("reg");
  std::vector<flatbuffers::Offset<fbs::FileMetadata>> list;
  for (size_t i = 0; i < entries; ++i) {
    if (i >= tables) {
      list.push_back(list.back());
      continue;
    }
    fbs::FileMetadataBuilder file(builder);
    file.add_name(name);
    file.add_type(type);
    file.add_uncompressed_offset(static_cast<int64_t>(512 * (i + 1)));
    list.push_back(file.Finish());
  }
  const auto files = builder.CreateVector(list);
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
  root.add_compressed_archive_size(2'000);
  root.add_uncompressed_archive_size(2'000'000);
  root.add_compression_info(info);
  builder.Finish(root.Finish());
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

TEST(HostileZtoc, ThatNamesOneTableAMillionTimesIsRefusedBeforeItGrows) {
  const Result<test::Ztoc> read = test::DecodeZtoc(WithRepeats(1'000'000, 1, 10));
  EXPECT_THAT(std::string(Message(read.status())), HasSubstr("entries take more room"));
}

TEST(HostileZtoc, ThatNamesOneLongTextAgainAndAgainIsRefusedBeforeItGrows) {
  const Result<test::Ztoc> read = test::DecodeZtoc(WithRepeats(2'000, 2'000, 500'000));
  EXPECT_THAT(std::string(Message(read.status())), HasSubstr("texts take more room"));
}

TEST(HostileZtoc, WithMoreOrFewerDigestsThanSpansIsRefused) {
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.span_digests.pop_back(); }),
              HasSubstr("without its window or its span's digest"));
  test::Ztoc plain = GoodZtoc();
  plain.compression = Compression::kUncompressed;
  plain.compressed_size = uint64_t{1} << 40;
  plain.span_size = 1;
  plain.checkpoints.clear();
  plain.windows.clear();
  EXPECT_THAT(std::string(Message(test::DecodeZtoc(*EncodeZtoc(plain)).status())),
              HasSubstr("1099511627776 spans, but"));
}

}  // namespace
}  // namespace soci
