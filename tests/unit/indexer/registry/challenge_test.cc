#include "indexer/registry/challenge.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(Challenge, ReadsABearerChallenge) {
  auto challenges = ParseChallenges(
      R"(Bearer realm="https://auth.example/token",service="registry.example",scope="repository:a/b:pull,push")");
  ASSERT_EQ(challenges.size(), 1u);
  EXPECT_EQ(challenges[0].scheme, "bearer");
  EXPECT_EQ(challenges[0].params["realm"], "https://auth.example/token");
  EXPECT_EQ(challenges[0].params["scope"], "repository:a/b:pull,push");
}

TEST(Challenge, ReadsSeveralInOneHeader) {
  auto challenges = ParseChallenges(R"(Negotiate, Basic realm="x, y=\"z\"" , charset=UTF-8, BEARER Realm = r)");
  ASSERT_EQ(challenges.size(), 3u);
  EXPECT_EQ(challenges[0].scheme, "negotiate");
  EXPECT_EQ(challenges[1].params["realm"], "x, y=\"z\"");
  EXPECT_EQ(challenges[1].params["charset"], "UTF-8");
  EXPECT_EQ(challenges[2].scheme, "bearer");
  EXPECT_EQ(challenges[2].params["realm"], "r");
}

TEST(Challenge, MalformedTextIsNoChallengeAndNoCrash) {
  for (const char* text : {"", ",", "\"", "=", "Basic realm=\"open", "@@@ ===", "Bearer realm", "Basic =x"}) {
    ParseChallenges(text);
  }
  EXPECT_LE(ParseChallenges(std::string(100'000, ',')).size(), 16u);
  EXPECT_LE(ParseChallenges(std::string(100'000, 'a')).size(), 16u);
}

}  // namespace
}  // namespace soci
