#include "indexer/net/link_header.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(LinkHeader, FindsTheNextPage) {
  EXPECT_EQ(ParseNextLink("</v2/a/referrers/sha256:1?n=2>; rel=\"next\""), "/v2/a/referrers/sha256:1?n=2");
  EXPECT_EQ(ParseNextLink("<http://h/p>;rel=next"), "http://h/p");
}

TEST(LinkHeader, ChoosesAmongSeveral) {
  EXPECT_EQ(ParseNextLink("<a>; rel=prev, <b>; title=\"x, <c>; rel=next\"; rel=\"last Next\", <d>; rel=next"), "b");
}

TEST(LinkHeader, FindsNothingWhereThereIsNothing) {
  for (const char* text :
       {"", "<", "<a", "<a>", "<a>; rel=prev", "<>; rel=next", "a; rel=next", "<a>; rel=nextt", "<a>; rel"}) {
    EXPECT_FALSE(ParseNextLink(text)) << text;
  }
}

}  // namespace
}  // namespace soci
