// Indexing of layers that broke other indexers. Each named field report is one that users met.
#include "indexer/ztoc/layer_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/codec/span_decoder.h"
#include "tests/gzip/gzip_maker.h"
#include "tests/gzip/scanned_gzip.h"
#include "tests/support/tar_builder.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci {
namespace {

using test::GzipMember;
using test::TarBuilder;
using ::testing::HasSubstr;

Result<ScannedLayer> Scan(const std::string& blob, uint64_t span_size = 4096,
                          Compression compression = Compression::kGzip) {
  test::TextStream stream(blob);
  return ScanLayer(stream, compression, {.span_size = span_size});
}

// A file's bytes, read as a snapshotter reads them: only the spans that hold it, each decoded alone.
std::string ReadFile(const test::Ztoc& ztoc, const std::string& blob, const tar::Entry& entry) {
  std::string content;
  const std::vector<SpanExtent> spans = ztoc.Spans();
  for (size_t i = 0; i < spans.size(); ++i) {
    const UncompressedRange wanted = spans[i].uncompressed.Intersect(entry.content);
    if (wanted.empty()) continue;
    std::string decoded(spans[i].uncompressed.size(), '?');
    const Status status = DecoderFor(ztoc.compression)
                              .Decode(spans[i], AsBytes(AsText(ztoc.windows[i])),
                                      AsBytes(blob).subspan(spans[i].compressed.begin, spans[i].compressed.size()),
                                      std::as_writable_bytes(std::span(decoded)));
    EXPECT_TRUE(status.ok()) << status;
    content += decoded.substr(wanted.begin - spans[i].uncompressed.begin, wanted.size());
  }
  return content;
}

void ExpectEveryFileReadable(const std::string& tar, const std::string& blob) {
  const Result<ScannedLayer> scanned = Scan(blob);
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  EXPECT_EQ(scanned->diff_id, oci::DiffId(oci::Digest::Of(tar)));
  EXPECT_EQ(scanned->layer, oci::LayerDigest(oci::Digest::Of(blob)));
  const Result<test::Ztoc> ztoc = test::DecodeZtoc(*EncodeZtoc(scanned->ztoc));
  ASSERT_TRUE(ztoc.ok()) << ztoc.status();
  EXPECT_GT(ztoc->Spans().size(), 3u);
  for (const tar::Entry& entry : ztoc->entries) {
    EXPECT_TRUE(ReadFile(*ztoc, blob, entry) == tar.substr(entry.content.begin, entry.content.size())) << entry.name;
  }
}

std::string SomeTar() {
  return TarBuilder()
      .Directory("usr")
      .File("usr/first", test::ProseBytes(30'000, 1))
      .File("usr/noise", test::NoiseBytes(20'000, 2))
      .File("usr/empty", "")
      .File("usr/last", test::ProseBytes(50'000, 3))
      .Finish();
}

test::GzipRecipe ShortBlocks() { return {.compressor = test::Compressor::kZlibFlushing, .block = 3000}; }

TEST(FieldReportA1, EveryFileOfTwoGluedMembersIsReadable) {
  const std::string tar = SomeTar();
  ExpectEveryFileReadable(
      tar, GzipMember(tar.substr(0, 20'000), ShortBlocks()) + GzipMember(tar.substr(20'000), ShortBlocks()));
}

TEST(FieldReportA1, EveryFileOfTwentyMembersWithAnEmptyOneBetweenIsReadable) {
  const std::string tar = SomeTar();
  std::string blob;
  const size_t step = tar.size() / 20 + 1;
  for (size_t at = 0; at < tar.size(); at += step) {
    blob += GzipMember(tar.substr(at, step));
    if (at / step == 7) blob += GzipMember("");
  }
  ExpectEveryFileReadable(tar, blob);
}

TEST(FieldReportA1, ZerosAfterTheLastMemberAreRefusedWithThatReason) {
  EXPECT_THAT(std::string(Message(Scan(GzipMember(SomeTar()) + std::string(512, '\0')).status())),
              HasSubstr("bytes after the last gzip member"));
}

TEST(FieldReportA2, TheFirstFileIsReadableAfterALongGzipHeader) {
  const std::string tar = SomeTar();
  test::GzipRecipe recipe = ShortBlocks();
  recipe.header = {.extra = std::string(300, 'x'), .name = "layer.tar", .comment = "a comment", .checksum = true};
  const std::string blob = GzipMember(tar, recipe);
  ExpectEveryFileReadable(tar, blob);
  EXPECT_EQ(Scan(blob)->ztoc.checkpoints[0].compressed, 10u + 302 + 10 + 10 + 2);
}

TEST(FieldReportA3, ShortAndEmptyBlobsAreRefusedAndNothingMore) {
  for (const std::string& blob :
       {std::string(), std::string("\x1f\x8b\x08"), test::GzipHeader({.extra = std::string(500, 'x')}).substr(0, 30)}) {
    EXPECT_THAT(std::string(Message(Scan(blob).status())), HasSubstr("truncated"));
  }
}

TEST(FieldReportA4, APlainTarIsIndexedAndWrongLabelsAreNamed) {
  const std::string tar = SomeTar();
  const Result<ScannedLayer> plain = Scan(tar, 4096, Compression::kUncompressed);
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->diff_id, oci::DiffId(plain->layer));
  EXPECT_THAT(std::string(Message(Scan(tar).status())), HasSubstr("not a gzip stream"));
  EXPECT_THAT(std::string(Message(Scan(GzipMember(tar), 4096, Compression::kUncompressed).status())),
              HasSubstr("not a tar archive"));
}

TEST(FieldReportA18, APathThatOccursTwiceIsKeptTwiceInOrder) {
  const std::string tar = TarBuilder().File("a", "one").File("a", "two!").Directory("a").Finish();
  const Result<ScannedLayer> scanned = Scan(GzipMember(tar));
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  ASSERT_EQ(scanned->ztoc.entries.size(), 3u);
  EXPECT_EQ(test::Unpack(scanned->ztoc).entries[1].size, 4);
}

TEST(FieldReportA20, HardLinksToAnythingAreKept) {
  const std::string tar = TarBuilder()
                              .Symlink("s", "target")
                              .HardLink("hs", "s")
                              .Fifo("f")
                              .HardLink("hf", "f")
                              .File("x", "x", {.xattrs = {{"user.color", "red"}}})
                              .HardLink("hx", "x")
                              .Finish();
  const Result<ScannedLayer> scanned = Scan(GzipMember(tar));
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  EXPECT_EQ(scanned->ztoc.entries.size(), 6u);
  EXPECT_EQ(test::Unpack(scanned->ztoc).entries[4].pax.at("SCHILY.xattr.user.color"), "red");
  EXPECT_TRUE(test::DecodeZtoc(*EncodeZtoc(scanned->ztoc)).ok());
}

TEST(FieldReportA22, AbsurdSpanSizesAreRefusedAndOneIsPossible) {
  const std::string blob = GzipMember(SomeTar());
  const std::string tar = SomeTar();
  for (const uint64_t size : {uint64_t{0}, uint64_t{1} << 63, ~uint64_t{0}}) {
    EXPECT_THAT(std::string(Message(Scan(blob, size).status())), HasSubstr("span size"));
    EXPECT_THAT(std::string(Message(Scan(tar, size, Compression::kUncompressed).status())), HasSubstr("span size"));
  }
  EXPECT_TRUE(Scan(blob, 1).ok());
  EXPECT_TRUE(Scan(tar, 1, Compression::kUncompressed).ok());
  EXPECT_TRUE(Scan(blob, uint64_t{1} << 62).ok());
}

TEST(LayerScanner, TellsHowFarItIs) {
  const std::string blob = GzipMember(SomeTar());
  test::TextStream stream(blob, 1000);
  uint64_t told = 0;
  const auto progress = [&told](uint64_t bytes) {
    EXPECT_GT(bytes, told);
    told = bytes;
  };
  ASSERT_TRUE(ScanLayer(stream, Compression::kGzip, {.span_size = 4096, .progress = progress}).ok());
  EXPECT_EQ(told, blob.size());
}

TEST(LayerScanner, PassesOnAnErrorOfItsStream) {
  class Broken final : public ByteStream {
    Result<size_t> Read(MutableByteSpan) override { return absl::UnavailableError("gone"); }
  };
  for (const Compression compression : {Compression::kGzip, Compression::kUncompressed}) {
    Broken broken;
    EXPECT_EQ(ScanLayer(broken, compression, {}).status().code(), absl::StatusCode::kUnavailable);
  }
}

// The header of the first member with another time, in GNU's base-256; a PAX record would still tell it.
std::string WithTime(std::string tar, int64_t seconds) {
  tar.replace(136, 12, std::string(12, seconds < 0 ? '\xff' : '\0'));
  if (seconds >= 0) tar[136] = '\x80';
  for (int i = 0; i < 8; ++i) tar[147 - i] = static_cast<char>(seconds >> (8 * i));
  tar.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char byte : tar.substr(0, 512)) sum += static_cast<uint8_t>(byte);
  std::string digits(6, '0');
  for (size_t i = 6; i-- > 0; sum /= 8) digits[i] = static_cast<char>('0' + sum % 8);
  return tar.replace(148, 8, digits + std::string("\0 ", 2));
}

TEST(LayerScanner, MarksATimeThatTheFormatCannotTell) {
  const std::string tar = TarBuilder().File("old", "x").Finish();
  for (const int64_t last_possible : {int64_t{253402300799}, int64_t{-62167219200}}) {
    EXPECT_EQ(Scan(GzipMember(WithTime(tar, last_possible)))->WhyNotExact(), nullptr);
    const int64_t impossible = last_possible + (last_possible > 0 ? 1 : -1);
    const Result<ScannedLayer> scanned = Scan(GzipMember(WithTime(tar, impossible)));
    ASSERT_TRUE(scanned.ok()) << scanned.status();
    ASSERT_NE(scanned->WhyNotExact(), nullptr);
    EXPECT_EQ(scanned->WhyNotExact()->kind, Hazard::kLossyTime);
    EXPECT_EQ(scanned->WhyNotExact()->reason, "modification time " + std::to_string(impossible) + " of \"old\"");
  }
}

TEST(FieldReportD8, LongAndOddNamesAndTargetsAreKeptByteForByte) {
  const std::string long_path = std::string(255, 'p') + "/" + std::string(44, 'q'), target(300, 't');
  const std::string odd = "new\nline-\xff\xfe-" + std::string(240, 'x');
  for (const bool gnu : {false, true}) {
    TarBuilder tar;
    if (gnu) tar.GnuLongNames();
    tar.File(long_path, "x").Symlink("link", target).HardLink("hard", long_path).File(odd, "y").Whiteout(long_path);
    const Result<ScannedLayer> scanned = Scan(GzipMember(tar.Finish()));
    ASSERT_TRUE(scanned.ok()) << scanned.status();
    const Result<test::Ztoc> ztoc = test::DecodeZtoc(*EncodeZtoc(scanned->ztoc));
    ASSERT_TRUE(ztoc.ok()) << ztoc.status();
    ASSERT_EQ(ztoc->entries.size(), 5u);
    EXPECT_EQ(ztoc->entries[0].name, long_path);
    EXPECT_EQ(ztoc->entries[1].link_name, target);
    EXPECT_EQ(ztoc->entries[2].link_name, long_path);
    EXPECT_EQ(ztoc->entries[3].name, odd);
    EXPECT_EQ(ztoc->entries[4].name, std::string(255, 'p') + "/.wh." + std::string(44, 'q'));
  }
}

TEST(FieldReportD9, AWhiteoutBeforeItsFolderKeepsItsPlace) {
  const std::string tar = TarBuilder().Whiteout("root/a/b/x").Directory("root/a").Finish();
  const Result<ScannedLayer> scanned = Scan(GzipMember(tar));
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  ASSERT_EQ(scanned->ztoc.entries.size(), 2u);
  EXPECT_EQ(test::Unpack(scanned->ztoc).entries[0].name, "root/a/b/.wh.x");
}

TEST(FieldReportD11, LinkTargetsAreNotCleaned) {
  const std::vector<std::string> targets = {"/bin/touch", "../x", "//y", "."};
  TarBuilder tar;
  for (size_t i = 0; i < targets.size(); ++i) tar.Symlink(std::to_string(i), targets[i]);
  const Result<test::Ztoc> ztoc = test::DecodeZtoc(*EncodeZtoc(Scan(GzipMember(tar.Finish()))->ztoc));
  ASSERT_TRUE(ztoc.ok()) << ztoc.status();
  for (size_t i = 0; i < targets.size(); ++i) EXPECT_EQ(ztoc->entries[i].link_name, targets[i]);
}

}  // namespace
}  // namespace soci
