#include "indexer/codec/span_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gzip/gzip_maker.h"
#include "tests/gzip/scanned_gzip.h"

namespace soci::test {
namespace {

struct Case {
  std::string gzip;
  OracleAnswer answer;
  std::vector<SpanExtent> spans;
};

Case MakeCase(unsigned seed, bool members) {
  std::mt19937 random(seed);
  Case made;
  const std::string bytes = RandomBytes(50'000 + random() % 400'000, random);
  const size_t step = members ? 1 + random() % 50'000 : bytes.size();
  for (size_t at = 0; at < bytes.size(); at += step) {
    made.gzip += GzipMember(std::string_view(bytes).substr(at, step), RandomRecipe(random));
  }
  Result<OracleAnswer> answer = AskOurs(made.gzip, 1 << (10 + random() % 7));
  EXPECT_TRUE(answer.ok()) << answer.status();
  made.answer = *std::move(answer);
  made.spans = SpansOf(made.answer.checkpoints, made.gzip.size(), made.answer.decoded.size());
  return made;
}

Status DecodeSpan(const Case& made, size_t i, MutableByteSpan out, size_t cut = 0) {
  const SpanExtent& span = made.spans[i];
  // A copy of its own size, so that a sanitizer sees any look outside.
  const std::string compressed = made.gzip.substr(span.compressed.begin, span.compressed.size() - cut);
  return DecoderFor(Compression::kGzip).Decode(span, AsBytes(made.answer.windows[i]), AsBytes(compressed), out);
}

TEST(SpanDecoder, DecodesEverySpanByItself) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Case made = MakeCase(seed, seed % 2 == 1);
    for (size_t i = 0; i < made.spans.size(); ++i) {
      const UncompressedRange range = made.spans[i].uncompressed;
      std::string out(range.size(), '?');
      const Status status = DecodeSpan(made, i, std::as_writable_bytes(std::span(out)));
      ASSERT_TRUE(status.ok()) << "seed " << seed << " span " << i << ": " << status;
      ASSERT_TRUE(out == made.answer.decoded.substr(range.begin, range.size())) << "seed " << seed << " span " << i;
    }
  }
}

TEST(SpanDecoder, DecodesOnlyTheBeginningIfAskedTo) {
  const Case made = MakeCase(7, true);
  for (size_t i = 0; i < made.spans.size(); ++i) {
    const UncompressedRange range = made.spans[i].uncompressed;
    if (range.size() < 2) continue;
    for (const uint64_t wanted : {uint64_t{0}, uint64_t{1}, range.size() / 2, range.size() - 1}) {
      std::string out(wanted, '?');
      ASSERT_TRUE(DecodeSpan(made, i, std::as_writable_bytes(std::span(out))).ok());
      EXPECT_TRUE(out == made.answer.decoded.substr(range.begin, wanted));
    }
  }
}

TEST(SpanDecoder, FailsInsteadOfLoopingWhenTheBytesEndBeforeTheWantedOutput) {
  const Case made = MakeCase(9, false);
  for (size_t i = 0; i < made.spans.size(); ++i) {
    const SpanExtent& span = made.spans[i];
    std::string out(span.uncompressed.size(), '?');
    for (size_t cut = span.compressed.size() / 2; cut <= span.compressed.size(); cut += 1 + cut / 3) {
      const Status status = DecodeSpan(made, i, std::as_writable_bytes(std::span(out)), cut);
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << i << " cut by " << cut;
    }
    std::string too_much(span.uncompressed.size() + 1'000'000, '?');
    if (i + 1 < made.spans.size()) continue;
    EXPECT_EQ(DecodeSpan(made, i, std::as_writable_bytes(std::span(too_much))).code(), absl::StatusCode::kDataLoss);
  }
}

TEST(SpanDecoder, NeverWritesOutsideWhateverTheBytesAre) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::string noise(random() % 3000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    const SpanExtent span{
        .compressed = {0, noise.size()}, .uncompressed = {0, 0}, .bits = static_cast<uint8_t>(random() % 8)};
    const std::string window(kWindowSize, 'w');
    std::string out(random() % 100'000, '?');
    static_cast<void>(DecoderFor(Compression::kGzip)
                          .Decode(span, AsBytes(window), AsBytes(noise), std::as_writable_bytes(std::span(out))));
  }
}

TEST(SpanDecoder, DecodesTheLastSpanToItsEndThoughNobodyToldIt) {
  const Case made = MakeCase(11, true);
  const size_t last = made.spans.size() - 1;
  std::string rest;
  const Status status =
      DecoderFor(Compression::kGzip)
          .DecodeToEnd(made.spans[last], AsBytes(made.answer.windows[last]),
                       AsBytes(made.gzip).subspan(made.spans[last].compressed.begin), [&rest](ByteSpan bytes) {
                         rest += AsText(bytes);
                         return OkStatus();
                       });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(rest == made.answer.decoded.substr(made.spans[last].uncompressed.begin));
}

TEST(SpanDecoder, EndsWithTheStatusOfItsSink) {
  const Case made = MakeCase(3, false);
  const size_t last = made.spans.size() - 1;
  const Status status = DecoderFor(Compression::kGzip)
                            .DecodeToEnd(made.spans[last], AsBytes(made.answer.windows[last]),
                                         AsBytes(made.gzip).subspan(made.spans[last].compressed.begin),
                                         [](ByteSpan) { return absl::CancelledError("enough"); });
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
}

TEST(SpanDecoder, CopiesThePartOfAPlainTar) {
  std::string out(3, '?');
  const SpanExtent span{.compressed = {0, 5}, .uncompressed = {0, 5}, .bits = 0};
  const SpanDecoder& plain = DecoderFor(Compression::kUncompressed);
  ASSERT_TRUE(plain.Decode(span, {}, AsBytes("abcde"), std::as_writable_bytes(std::span(out))).ok());
  EXPECT_EQ(out, "abc");
  std::string more(6, '?');
  EXPECT_EQ(plain.Decode(span, {}, AsBytes("abcde"), std::as_writable_bytes(std::span(more))).code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace soci::test
