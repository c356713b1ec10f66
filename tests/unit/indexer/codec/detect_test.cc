// Field report A4: a plain tar labelled gzip, and a gzip layer labelled tar, are found by their first bytes.
#include "indexer/codec/detect.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/gzip/gzip_maker.h"
#include "tests/support/tar_builder.h"

namespace soci {
namespace {

std::optional<StreamFormat> Detect(const std::string& bytes) { return DetectCompression(AsBytes(bytes)); }

TEST(DetectCompression, KnowsGzipPlainTarAndZstd) {
  EXPECT_EQ(Detect(test::GzipMember("x")), StreamFormat::kGzip);
  EXPECT_EQ(Detect(test::TarBuilder().File("a", "a").Finish()), StreamFormat::kPlainTar);
  EXPECT_EQ(Detect(std::string(1024, '\0')), StreamFormat::kPlainTar);
  EXPECT_EQ(Detect("\x28\xb5\x2f\xfd"), StreamFormat::kZstd);
  EXPECT_EQ(Detect("\x5a\x2a\x4d\x18"), StreamFormat::kZstd) << "a skippable frame first";
}

TEST(DetectCompression, SaysNothingAboutShortOrStrangeBytes) {
  EXPECT_EQ(Detect(""), std::nullopt);
  EXPECT_EQ(Detect("\x1f\x8b"), std::nullopt);
  EXPECT_EQ(Detect(std::string(300, '\0')), std::nullopt);
  EXPECT_EQ(Detect(std::string(600, 'x')), std::nullopt);
}

}  // namespace
}  // namespace soci
