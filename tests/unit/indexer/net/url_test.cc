#include "indexer/net/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(Url, IsSplitAndJoined) {
  Result<Url> url = Url::Parse("https://Host.example:8443/v2/a%2Fb?x=1&y=%20");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->host, "host.example");
  EXPECT_EQ(url->port, "8443");
  EXPECT_EQ(url->ToString(), "https://host.example:8443/v2/a%2Fb?x=1&y=%20");
  EXPECT_EQ(Url::Parse("http://h").value().ToString(), "http://h/");
  EXPECT_EQ(Url::Parse("https://[::1]:443/a").value().Origin(), "https://[::1]");
}

TEST(Url, RefusesWhatCannotBeARegistry) {
  for (const char* text :
       {"", "ftp://h/", "file:///etc/passwd", "http://", "http://u:p@h/", "http://h/a b", "http://h/\n", "h/p"}) {
    Result<Url> url = Url::Parse(text);
    EXPECT_FALSE(url.ok() && url->scheme.empty()) << text;
    if (std::string_view(text) != "h/p") {
      EXPECT_FALSE(url.ok()) << text;
    }
  }
}

TEST(Url, AnErrorNeverHoldsTheSecretPartOfIt) {
  for (const char* text : {"https://user:hunter2@h/", "https://h/ ?sig=hunter2"}) {
    Result<Url> url = Url::Parse(text);
    ASSERT_FALSE(url.ok());
    EXPECT_THAT(url.status().ToString(), ::testing::Not(::testing::HasSubstr("hunter2")));
  }
}

TEST(Url, LocationsAreRelativeToTheAnswer) {
  Url base = Url::Parse("https://h:5000/v2/a/blobs/uploads/?x=1").value();
  EXPECT_EQ(ResolveUrl(base, "/v2/b").value().ToString(), "https://h:5000/v2/b");
  EXPECT_EQ(ResolveUrl(base, "abc?_state=q").value().ToString(), "https://h:5000/v2/a/blobs/uploads/abc?_state=q");
  EXPECT_EQ(ResolveUrl(base, "http://other/p").value().ToString(), "http://other/p");
  EXPECT_FALSE(ResolveUrl(base, "ftp://other/p").ok());
}

TEST(Url, OriginsDifferByPortAndScheme) {
  Url a = Url::Parse("https://h/x").value();
  EXPECT_TRUE(SameOrigin(a, Url::Parse("https://H:443/y").value()));
  EXPECT_FALSE(SameOrigin(a, Url::Parse("https://h:444/x").value()));
  EXPECT_FALSE(SameOrigin(a, Url::Parse("http://h/x").value()));
}

TEST(Url, QueryValuesAreDecoded) {
  Url url = Url::Parse("https://h/p?a=1&b=x%2By+z&a=2&c").value();
  EXPECT_THAT(url.QueryValues("a"), ::testing::ElementsAre("1", "2"));
  EXPECT_THAT(url.QueryValues("b"), ::testing::ElementsAre("x+y z"));
  EXPECT_TRUE(url.QueryValues("c").empty());
}

}  // namespace
}  // namespace soci
