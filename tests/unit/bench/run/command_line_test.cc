#include "bench/run/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CommandLine, WordsAreSplitAsAShellWould) {
  EXPECT_THAT(*SplitWords(R"(sh -c 'echo "a  b"' x\ y "1 \" 2" '')"),
              ElementsAre("sh", "-c", "echo \"a  b\"", "x y", "1 \" 2", ""));
  EXPECT_THAT(*SplitWords("  \t\n "), IsEmpty());
}

TEST(CommandLine, AQuoteThatIsNotClosedIsRefused) {
  EXPECT_EQ(SplitWords("echo 'a").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(CommandLine, AValueStaysOneWordWhateverIsInIt) {
  EXPECT_THAT(*CommandLine("pull --to {to} {image}", {{"to", "a b"}, {"image", "it's"}}),
              ElementsAre("pull", "--to", "a b", "it's"));
}

TEST(CommandLine, AWordThatBecomesEmptyIsLeftOut) {
  EXPECT_THAT(*CommandLine("pull {plain} x", {{"plain", ""}}), ElementsAre("pull", "x"));
}

TEST(CommandLine, ANameWithoutAValueIsNamed) {
  EXPECT_THAT(std::string(Message(CommandLine("run {imagee}", {{"image", "x"}}).status())), HasSubstr("{imagee}"));
  EXPECT_FALSE(Fill("{open", {}).ok());
}

TEST(CommandLine, DoubledBracesStandForBraces) { EXPECT_EQ(*Fill("{{{a}}}", {{"a", "1"}}), "{1}"); }

}  // namespace
}  // namespace soci::bench
