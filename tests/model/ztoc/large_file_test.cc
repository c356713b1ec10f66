// Field report A21.
#include <gtest/gtest.h>

#include "indexer/codec/span_decoder.h"
#include "indexer/ztoc/layer_scanner.h"
#include "tests/gzip/gzip_maker.h"
#include "tests/gzip/scanned_gzip.h"
#include "tests/support/tar_builder.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci::test {
namespace {

// Bytes of the tar, from the spans that hold them, each decoded alone.
std::string ReadTar(const test::Ztoc& ztoc, const std::string& blob, UncompressedRange range) {
  std::string content;
  const std::vector<SpanExtent> spans = ztoc.Spans();
  for (size_t i = 0; i < spans.size(); ++i) {
    const UncompressedRange wanted = spans[i].uncompressed.Intersect(range);
    if (wanted.empty()) continue;
    std::string decoded(spans[i].uncompressed.size(), '?');
    const Status status = DecoderFor(ztoc.compression)
                              .Decode(spans[i], ztoc.windows[i],
                                      AsBytes(blob).subspan(spans[i].compressed.begin, spans[i].compressed.size()),
                                      std::as_writable_bytes(std::span(decoded)));
    EXPECT_TRUE(status.ok()) << status;
    content += decoded.substr(wanted.begin - spans[i].uncompressed.begin, wanted.size());
  }
  return content;
}

// The header of a file that is larger than a test would write out.
std::string HeaderOfSize(const std::string& name, uint64_t size) {
  std::string header = TarBuilder().File(name, "").Finish().substr(0, 512);
  std::string field(12, '\0');
  for (size_t i = 0; i < 8; ++i) field[11 - i] = static_cast<char>(size >> (8 * i));
  field[0] = '\x80';
  header.replace(124, 12, field);
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (char byte : header) sum += static_cast<uint8_t>(byte);
  std::string digits(6, '0');
  for (size_t i = 6; i-- > 0; sum /= 8) digits[i] = static_cast<char>('0' + sum % 8);
  header.replace(148, 8, digits + std::string("\0 ", 2));
  return header;
}

// Numbers must not be cut to 32 bits anywhere. The layer has a member for every 64 MiB of zeros and one for every mark.
TEST(FieldReportA21, AFileOfFiveGiBIsReadableAroundFourGiB) {
  constexpr uint64_t kPiece = 64 << 20;
  constexpr uint64_t kSize = 80 * kPiece + 3;
  const std::string zeros = GzipMember(std::string(kPiece, '\0'), {.level = 1});
  std::string blob = GzipMember(HeaderOfSize("zeros", kSize) + "first mark");
  for (int i = 0; i < 64; ++i) blob += zeros;  // its 4 GiB end 10 bytes past the file's
  const std::string middle = "a mark after 4 GiB";
  blob += GzipMember(middle);
  for (int i = 0; i < 15; ++i) blob += zeros;
  const uint64_t written = 10 + 79 * kPiece + middle.size();
  blob += GzipMember(std::string(kSize - written - 4, '\0') + "last" + std::string(512 - kSize % 512 + 1024, '\0'));

  TextStream stream(blob);
  const Result<ScannedLayer> scanned = ScanLayer(stream, Compression::kGzip, {});
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  const Result<test::Ztoc> ztoc = test::DecodeZtoc(*EncodeZtoc(scanned->ztoc));
  ASSERT_TRUE(ztoc.ok()) << ztoc.status();
  const tar::Entry& file = ztoc->entries.at(0);
  EXPECT_EQ(file.size, static_cast<int64_t>(kSize));
  EXPECT_EQ(file.content, (UncompressedRange{512, 512 + kSize}));
  const auto read = [&](uint64_t begin, uint64_t size) {
    return ReadTar(*ztoc, blob, {512 + begin, 512 + begin + size});
  };
  const uint64_t four_gib = uint64_t{1} << 32;
  EXPECT_EQ(read(0, 11), std::string("first mark\0", 11));
  EXPECT_EQ(read(four_gib - 1, 5), std::string(5, '\0'));
  EXPECT_EQ(read(four_gib + 9, middle.size() + 2), std::string(1, '\0') + middle + std::string(1, '\0'));
  EXPECT_EQ(read(kSize - 5, 5), std::string("\0last", 5));
}

}  // namespace
}  // namespace soci::test
