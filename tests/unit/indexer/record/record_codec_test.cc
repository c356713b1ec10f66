#include "indexer/record/record_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <random>

#include "indexer/record/record_builder.h"
#include "indexer/record/wire.h"

namespace soci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

oci::Digest Image() { return oci::Digest::Of("image"); }
oci::LayerDigest Layer(int number) { return oci::LayerDigest(oci::Digest::Of("layer" + std::to_string(number))); }

Record Sample() {
  RecordBuilder builder(Image(), {Layer(1), Layer(2)});
  builder.Add(Layer(2), "usr/bin/python3", 10'000, 8192, 100, 0);
  builder.Add(Layer(1), "lib/libc.so", 1 << 20, 0, 832, 1500);
  builder.Add(Layer(1), "lib/libc.so", 1 << 20, 400'000, 70'000, 21'500);
  return builder.Build();
}

Record Random(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint64_t limit) { return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random); };
  std::vector<oci::LayerDigest> layers;
  for (uint64_t i = 0; i <= below(6); ++i) layers.push_back(Layer(static_cast<int>(i)));
  RecordBuilder builder(Image(), layers);
  std::vector<uint64_t> sizes;
  for (uint64_t i = 0; i <= below(40); ++i) sizes.push_back(1 + below(below(2) == 0 ? 9000 : 80'000'000));
  uint64_t now = 0;
  for (uint64_t i = below(400); i > 0; --i) {
    const uint64_t file = below(sizes.size());
    now += below(50'000);
    builder.Add(layers[file % layers.size()], "dir/file" + std::to_string(file), sizes[file], below(sizes[file]),
                1 + below(200'000), now);
  }
  return builder.Build();
}

std::string Frame(std::string_view message) {
  std::string packed(ZSTD_compressBound(message.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), message.data(), message.size(), 1));
  return packed;
}

std::string WhyRefused(const Record& record) { return std::string(Message(EncodeRecord(record).status())); }

TEST(RecordCodec, WhatIsEncodedComesBack) {
  const auto encoded = EncodeRecord(Sample());
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  const auto decoded = DecodeRecord(*encoded);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, Sample());
}

TEST(RecordCodec, AnyRecordComesBackFromItsEncoding) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Record record = Random(seed);
    const auto encoded = EncodeRecord(record);
    ASSERT_TRUE(encoded.ok()) << seed << ": " << encoded.status();
    const auto decoded = DecodeRecord(*encoded);
    ASSERT_TRUE(decoded.ok()) << seed << ": " << decoded.status();
    ASSERT_EQ(*decoded, record) << seed;
  }
}

TEST(RecordCodec, AHundredThousandExtentsFit) {
  RecordBuilder builder(Image(), {Layer(1)});
  for (uint64_t i = 0; i < 100'000; ++i) {
    builder.Add(Layer(1), "file" + std::to_string(i / 100), 100 << 20, (i * 37 % 100) << 16, 4096, i * 200);
  }
  const auto encoded = EncodeRecord(builder.Build());
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  EXPECT_EQ(DecodeRecord(*encoded)->extents.size(), 100'000u);
}

TEST(RecordCodec, ARecordForAnotherImageIsRefused) {
  const auto encoded = EncodeRecord(Sample());
  ASSERT_TRUE(encoded.ok());
  EXPECT_TRUE(DecodeRecordOf(Image(), *encoded).ok());
  const auto other = DecodeRecordOf(oci::Digest::Of("another image"), *encoded);
  EXPECT_TRUE(absl::IsInvalidArgument(other.status()));
  EXPECT_THAT(Message(other.status()), HasSubstr("is about"));
}

TEST(RecordCodec, BytesThatAreNoRecordAreRefusedInOneLine) {
  const std::string good = *EncodeRecord(Sample());
  std::vector<std::string> bad = {"", "record", std::string(kMostRecordBytes + 1, 'x'), Frame(""), Frame("\x08\x01")};
  for (size_t cut = 1; cut < good.size(); cut += 7) bad.push_back(good.substr(0, cut));
  bad.push_back(Frame(std::string(8 << 20, '\xff')));
  for (const std::string& bytes : bad) {
    const auto decoded = DecodeRecord(bytes);
    ASSERT_TRUE(absl::IsInvalidArgument(decoded.status())) << bytes.size();
    EXPECT_EQ(Message(decoded.status()).find('\n'), std::string_view::npos);
  }
}

TEST(RecordCodec, AFrameThatWouldGrowBeyondTheLimitIsRefusedBeforeItIsUnpacked) {
  const auto bomb = DecodeRecord(Frame(std::string(17 << 20, 'a')));
  EXPECT_THAT(Message(bomb.status()), HasSubstr("would be"));
}

TEST(RecordCodec, ALaterFormatVersionIsToldApart) {
  WireWriter later;
  later.Number(1, 2);
  EXPECT_TRUE(absl::IsFailedPrecondition(DecodeRecord(Frame(later.Take())).status()));
}

TEST(RecordCodec, ColumnsOfDifferentLengthAreRefused) {
  WireWriter message;
  message.Number(1, 1);
  message.Bytes(2, Image().ToString());
  message.Packed(5, {0, 0});
  message.Packed(6, {1});
  EXPECT_THAT(Message(DecodeRecord(Frame(message.Take())).status()), HasSubstr("differ in length"));
}

TEST(RecordCodec, EveryLieIsNamed) {
  Record record = Sample();
  record.extents[0].offset = uint64_t{1} << 40;
  EXPECT_THAT(WhyRefused(record), HasSubstr("beyond its end"));
  record = Sample();
  record.extents[0].size = ~uint64_t{0} - 4095;
  EXPECT_THAT(WhyRefused(record), HasSubstr("beyond its end"));
  record = Sample();
  record.extents.push_back(record.extents[1]);
  EXPECT_THAT(WhyRefused(record), HasSubstr("twice"));
  record = Sample();
  record.extents[1].offset += 1;
  EXPECT_THAT(WhyRefused(record), HasSubstr("whole pages"));
  record = Sample();
  record.extents[0].file = 99;
  EXPECT_THAT(WhyRefused(record), HasSubstr("file 99"));
  record = Sample();
  record.files[0].layer = 7;
  EXPECT_THAT(WhyRefused(record), HasSubstr("layer 7"));
  record = Sample();
  std::swap(record.files[0], record.files[1]);
  EXPECT_THAT(WhyRefused(record), HasSubstr("order"));
  record = Sample();
  record.layers[1] = record.layers[0];
  EXPECT_THAT(WhyRefused(record), HasSubstr("a layer twice"));
  record = Sample();
  record.manifest = {};
  EXPECT_THAT(WhyRefused(record), HasSubstr("no image"));
}

Record SampleOfTwoRuns() {
  Record record = Sample();
  record.runs = {7, uint64_t{1} << 63};
  record.extents[0].runs = record.extents[1].runs = 3;
  record.extents[2].runs = 2;
  return record;
}

TEST(RecordCodec, WhichRunsNeedWhatComesBack) {
  EXPECT_EQ(DecodeRecord(EncodeRecord(SampleOfTwoRuns()).value()).value(), SampleOfTwoRuns());
  EXPECT_THAT(NeedTimes(Sample()), ElementsAre(0, 1500, 21'500));
  EXPECT_THAT(NeedTimes(SampleOfTwoRuns()), ElementsAre(0, 1500, 20'000));
}

TEST(RecordCodec, EveryLieAboutRunsIsNamed) {
  Record record = SampleOfTwoRuns();
  std::swap(record.runs[0], record.runs[1]);
  EXPECT_THAT(WhyRefused(record), HasSubstr("runs are not in order"));
  record = SampleOfTwoRuns();
  record.runs.resize(65);
  EXPECT_THAT(WhyRefused(record), HasSubstr("65 runs"));
  record = SampleOfTwoRuns();
  record.extents[2].runs = 4;
  EXPECT_THAT(WhyRefused(record), HasSubstr("of one that is none"));
  record = SampleOfTwoRuns();
  record.extents[2].runs = 0;
  EXPECT_THAT(WhyRefused(record), HasSubstr("of no run"));
  record = SampleOfTwoRuns();
  record.extents[0].runs = 1;
  EXPECT_THAT(WhyRefused(record), HasSubstr("does not come first"));
  record = Sample();
  record.extents[0].runs = 1;
  EXPECT_THAT(WhyRefused(record), HasSubstr("a run that is none"));
}

TEST(RecordCodec, PathsThatLeadOutOfALayerAreRefused) {
  for (const char* path : {"", "/etc/shadow", "../x", "a/../b", "a//b", "a/", "./a", "."}) {
    Record record = Sample();
    record.files[0].path = path;
    EXPECT_THAT(WhyRefused(record), HasSubstr("a path")) << path;
  }
}

}  // namespace
}  // namespace soci
