#include "indexer/registry/signed_url.h"

#include <gtest/gtest.h>

#include "indexer/net/retry_policy.h"

namespace soci {
namespace {

using std::chrono::seconds;

const auto kNow = ParseHttpDate("Sat, 31 Jan 2026 12:00:00 GMT").value();

std::optional<seconds> Lifetime(const std::string& query) {
  return SignedUrlLifetime(Url::Parse("https://s3.example/blob?" + query).value(), kNow, kNow + std::chrono::hours(5));
}

TEST(SignedUrl, LifetimesOfTheKnownSignaturesAreRead) {
  EXPECT_EQ(Lifetime("X-Amz-Expires=900&X-Amz-Date=20260131T120000Z&X-Amz-Signature=s"), seconds(900));
  EXPECT_EQ(Lifetime("X-Goog-Expires=600&X-Goog-Date=20260131T120000Z"), seconds(600));
  EXPECT_EQ(Lifetime("Expires=" + std::to_string(std::chrono::system_clock::to_time_t(kNow) + 60)), seconds(60));
  EXPECT_EQ(Lifetime("se=2026-01-31T12%3A20%3A00Z&sig=s"), seconds(1200));
}

TEST(SignedUrl, AgeCountsByTheServersClock) {
  EXPECT_EQ(Lifetime("X-Amz-Expires=900&X-Amz-Date=20260131T115000Z"), seconds(300));
  EXPECT_EQ(Lifetime("X-Amz-Expires=900&X-Amz-Date=20260131T110000Z"), seconds(0));
  EXPECT_EQ(Lifetime("X-Amz-Expires=900&X-Amz-Date=20260131T130000Z"), seconds(900));
}

TEST(SignedUrl, WithoutASignatureTheUrlDoesNotSay) {
  for (const char* query : {"", "x=1", "X-Amz-Expires=soon", "Expires=never", "se=later"}) {
    EXPECT_FALSE(Lifetime(query)) << query;
  }
}

}  // namespace
}  // namespace soci
