#include "indexer/codec/stream_decoder.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include "tests/gzip/gzip_maker.h"
#include "tests/gzip/scanned_gzip.h"

namespace soci {
namespace {

Result<std::string> Decode(const std::string& layer, StreamFormat format, size_t read_size = 1000) {
  test::TextStream stream(layer, read_size);
  const std::unique_ptr<ByteStream> decoded = DecodeStream(stream, format);
  std::string out;
  std::vector<std::byte> buffer(777);
  while (true) {
    SOCI_ASSIGN_OR_RETURN(const size_t count, decoded->Read(buffer));
    if (count == 0) return out;
    out += AsText(ByteSpan(buffer).first(count));
  }
}

std::string Zstd(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

class StreamDecoder : public ::testing::Test {
 protected:
  std::mt19937 random_{4};
  const std::string bytes_ = test::RandomBytes(300'000, random_);
};

TEST_F(StreamDecoder, GivesTheTarOfEveryFormat) {
  EXPECT_EQ(*Decode(bytes_, StreamFormat::kPlainTar), bytes_);
  EXPECT_EQ(*Decode(test::GzipMember(bytes_) + test::GzipMember("more"), StreamFormat::kGzip), bytes_ + "more");
  EXPECT_EQ(*Decode(Zstd(bytes_), StreamFormat::kZstd), bytes_);
}

TEST_F(StreamDecoder, ReadsManyZstdFramesAndSkippableOnes) {
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  EXPECT_EQ(*Decode(skippable + Zstd(bytes_) + skippable + Zstd("more") + Zstd(""), StreamFormat::kZstd, 7),
            bytes_ + "more");
}

TEST_F(StreamDecoder, RefusesAStreamThatIsCutShort) {
  const std::string gzip = test::GzipMember(bytes_);
  EXPECT_FALSE(Decode(gzip.substr(0, gzip.size() / 2), StreamFormat::kGzip).ok());
  const std::string zstd = Zstd(bytes_);
  EXPECT_FALSE(Decode(zstd.substr(0, zstd.size() / 2), StreamFormat::kZstd).ok());
  EXPECT_FALSE(Decode(zstd.substr(0, zstd.size() - 1), StreamFormat::kZstd).ok());
}

TEST_F(StreamDecoder, RefusesDamagedZstd) {
  std::string zstd = Zstd(bytes_);
  zstd[0] ^= 1;
  EXPECT_EQ(Decode(zstd, StreamFormat::kZstd).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace soci
