// Our decoder against zlib, on whatever compressors write and on what damage makes of it.
#include "indexer/codec/gzip_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gzip/gzip_maker.h"
#include "tests/gzip/scanned_gzip.h"
#include "tests/gzip/zlib_oracle.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;

std::string Why(const Result<OracleAnswer>& answer) { return std::string(Message(answer.status())); }

void ExpectSame(const std::string& gzip, uint64_t span_size, size_t read_size) {
  const std::optional<OracleAnswer> zlib = AskZlib(gzip, span_size);
  const Result<OracleAnswer> ours = AskOurs(gzip, span_size, read_size);
  ASSERT_TRUE(zlib.has_value());
  ASSERT_TRUE(ours.ok()) << ours.status();
  EXPECT_TRUE(ours->decoded == zlib->decoded);
  EXPECT_EQ(ours->checkpoints, zlib->checkpoints);
  EXPECT_TRUE(ours->windows == zlib->windows);
}

TEST(GzipDecoder, FindsTheCheckpointsThatZlibFindsWhateverTheCompressor) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const GzipRecipe recipe = RandomRecipe(random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << recipe.ToString());
    const std::string bytes = RandomBytes(random() % 300'000, random);
    ExpectSame(GzipMember(bytes, recipe), 1 << (random() % 18), size_t{1} << (random() % 18));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(GzipDecoder, GoesOnOverTheEndsOfMembersSplitAnywhere) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    SCOPED_TRACE(seed);
    const std::string bytes = RandomBytes(random() % 200'000, random);
    std::string gzip = GzipMember({}, RandomRecipe(random));
    for (size_t at = 0; at < bytes.size();) {
      const size_t size = random() % 3 == 0 ? random() % 20 : random() % 60'000;
      gzip += GzipMember(std::string_view(bytes).substr(at, size), RandomRecipe(random));
      at += size;
    }
    ExpectSame(gzip, 1 << (random() % 16), 1 + random() % 5000);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(GzipDecoder, AcceptsWhatZlibAcceptsAndRefusesWhatItRefusesWhenBytesAreDamaged) {
  int refused = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const GzipRecipe recipe = RandomRecipe(random);
    std::string gzip = GzipMember(RandomBytes(random() % 5000, random), recipe);
    const unsigned damages = 1 + random() % 3;
    for (unsigned i = 0; i < damages; ++i) gzip[random() % gzip.size()] ^= static_cast<char>(1 << random() % 8);
    if (random() % 4 == 0) gzip.resize(random() % gzip.size());
    const std::optional<OracleAnswer> zlib = AskZlib(gzip, 100);
    const Result<OracleAnswer> ours = AskOurs(gzip, 100, 1 + random() % 3000);
    // A member that became a zlib stream is the one thing zlib takes and we do not.
    if (zlib && Why(ours) == "not a gzip stream (zlib)") continue;
    ASSERT_EQ(zlib.has_value(), ours.ok()) << "seed " << seed << ": " << recipe.ToString() << ": " << ours.status();
    if (zlib) {
      EXPECT_EQ(ours->checkpoints, zlib->checkpoints) << seed;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(GzipDecoder, RefusesEveryProperPrefixAsTruncated) {
  const std::string gzip =
      GzipMember("what a short stream", {.header = {.extra = "abc", .name = "n", .checksum = true}});
  for (size_t size = 0; size < gzip.size(); ++size) {
    const Result<OracleAnswer> ours = AskOurs(gzip.substr(0, size), 1000);
    ASSERT_FALSE(ours.ok()) << size;
    EXPECT_THAT(Why(ours), HasSubstr("gzip data truncated")) << size;
  }
}

TEST(GzipDecoder, NamesBytesAfterTheLastMember) {
  const std::string gzip = GzipMember("bytes");
  for (const std::string& rest : {std::string(512, '\0'), std::string("not a member"), std::string("\x1f")}) {
    EXPECT_THAT(Why(AskOurs(gzip + rest, 1000)), HasSubstr("bytes after the last gzip member, at byte 25"));
  }
}

TEST(GzipDecoder, NamesAWrongChecksumAndAWrongLength) {
  std::string gzip = GzipMember("bytes");
  gzip[gzip.size() - 8] ^= 1;
  EXPECT_THAT(Why(AskOurs(gzip, 1000)), HasSubstr("checksum or length wrong"));
  gzip = GzipMember("bytes");
  gzip[gzip.size() - 1] ^= 1;
  EXPECT_THAT(Why(AskOurs(gzip, 1000)), HasSubstr("checksum or length wrong"));
}

TEST(GzipDecoder, DoesNotLetAMemberReferToTheOneBefore) {
  // A block that copies from before its own member: distance 1 at the very start (fixed code, length 3).
  const std::string body("\x03\x02\x00", 3);
  const std::string gzip = GzipMember("aaaa") + GzipHeader() + body + GzipTrailer("aaa");
  EXPECT_FALSE(AskZlib(gzip, 1000).has_value());
  EXPECT_THAT(Why(AskOurs(gzip, 1000)), HasSubstr("damaged"));
}

TEST(GzipDecoder, PassesOnAnErrorOfItsSource) {
  class Broken final : public ByteStream {
    Result<size_t> Read(MutableByteSpan) override { return absl::UnavailableError("gone"); }
  } broken;
  GzipDecoder decoder(broken);
  EXPECT_EQ(decoder.Next().status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace soci::test
