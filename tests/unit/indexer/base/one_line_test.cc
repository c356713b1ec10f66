#include "indexer/base/one_line.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(OneLine, LeavesTextAsItIs) { EXPECT_EQ(OneLine("a/b \xc3\xa9 \\n"), "a/b \xc3\xa9 \\n"); }

TEST(OneLine, HasNoControlCharacters) {
  EXPECT_EQ(OneLine(std::string_view("a\nb\x1b[2Jc\x7f\0d\t", 12)), "a b [2Jc  d ");
}

}  // namespace
}  // namespace soci
