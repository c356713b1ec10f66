// A layer made by hand and the zTOC that an independent program made of it.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "indexer/ztoc/layer_scanner.h"
#include "tests/gzip/scanned_gzip.h"

namespace soci::golden {
namespace {

std::string ZtocDigest(const std::string& name, Compression compression) {
  std::ifstream file(SOCI_SOURCE_DIR "/tests/golden/vec/" + name, std::ios::binary);
  const std::string blob{std::istreambuf_iterator<char>(file), {}};
  test::TextStream stream(blob);
  const Result<ScannedLayer> scanned = ScanLayer(stream, compression, {.span_size = 2500});
  if (!scanned.ok()) return scanned.status().ToString();
  return oci::Digest::Of(*EncodeZtoc(scanned->ztoc)).Hex();
}

TEST(Vec, OfGzipHasTheKnownZtoc) {
  EXPECT_EQ(ZtocDigest("vec.tar.gz", Compression::kGzip),
            "4c2adb94f9a361482e1692a912538f62fb2c169105ce470e19e18e4d7eae567a");
}

TEST(Vec, OfPlainTarHasTheKnownZtoc) {
  EXPECT_EQ(ZtocDigest("vec.tar", Compression::kUncompressed),
            "ec9afa19f231e651580cfc4a70dabbcd79d0950e1202a1e99002693e364e2e0a");
}

}  // namespace
}  // namespace soci::golden
