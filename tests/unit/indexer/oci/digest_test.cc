#include "indexer/oci/digest.h"

#include <gtest/gtest.h>

namespace soci::oci {
namespace {

TEST(Digest, OfEmptyConfigIsTheKnownOne) {
  EXPECT_EQ(Digest::Of("{}").ToString(), "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}

TEST(Digest, RefusesEverythingButSha256AndLowerCaseHex) {
  const std::string hex(64, 'a');
  EXPECT_TRUE(Digest::Parse("sha256:" + hex).ok());
  for (const std::string& text : {hex, "sha512:" + hex, "sha256:" + hex + "a", "sha256:" + hex.substr(1),
                                  "sha256:" + std::string(64, 'A'), "sha256:" + std::string(64, '/'), std::string()}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Digest::Parse(text).status())) << text;
  }
}

TEST(Hasher, PiecesGiveTheDigestOfTheWholeAndItStartsAnew) {
  Hasher hasher;
  hasher.Update(AsBytes("a"));
  hasher.Update(AsBytes(""));
  hasher.Update(AsBytes("bc"));
  EXPECT_EQ(hasher.Finish(), Digest::Of("abc"));
  EXPECT_EQ(hasher.Finish(), Digest::Of(""));
}

TEST(Stack, NamesTheFirstLayerByItsDiffIdAndHashesFromThenOn) {
  const DiffId a(Digest::Of("a")), b(Digest::Of("b"));
  const ChainId first = Stack({}, a);
  EXPECT_EQ(first.ToString(), a.ToString());
  EXPECT_EQ(Stack(first, b).ToString(), Digest::Of(a.ToString() + " " + b.ToString()).ToString());
}

}  // namespace
}  // namespace soci::oci
