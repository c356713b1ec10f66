// What every file of the tree has to look like, whatever is in it.
#include <gtest/gtest.h>

#include <regex>

#include "tests/house/tree.h"

namespace soci::house {
namespace {

constexpr size_t kMostLines = 600;

bool IsText(const std::string& file) {
  static const std::regex pattern(R"((.*\.(h|cc|md|txt|cmake|json|toml|sh|py|proto|fbs|service))|dev|\.ci/run|.*/run)");
  return std::regex_match(file, pattern);
}

TEST(Files, HeadersBeginWithACommentAndAPragmaOnce) {
  for (const std::string& file : Files()) {
    if (!EndsWith(file, ".h")) continue;
    std::vector<std::string> lines = Lines(ReadText(file));
    ASSERT_FALSE(lines.empty()) << file;
    EXPECT_EQ(lines[0].rfind("// ", 0), 0u) << file << " does not begin by saying what it is";
    size_t line = 0;
    while (line < lines.size() && (lines[line].empty() || lines[line].rfind("//", 0) == 0)) ++line;
    EXPECT_TRUE(line < lines.size() && lines[line] == "#pragma once")
        << file << ": after its comment comes #pragma once";
  }
}

TEST(Files, NoneIsSoLongThatItMustHoldTwoThings) {
  for (const std::string& file : Files()) {
    if (IsSource(file)) {
      EXPECT_LE(Lines(ReadText(file)).size(), kMostLines) << file;
    }
  }
}

TEST(Files, NoneNamesAPathOfTheMachineItWasWrittenOn) {
  static const std::regex path(R"re((^|[^A-Za-z0-9_.])(/work/|/home/[a-z]|/root/(?!\.(docker|pyenv))|\.\./shared/))re");
  for (const std::string& file : Files()) {
    if (!IsText(file) || file == "tests/house/files_test.cc") continue;
    int number = 0;
    for (const std::string& line : Lines(ReadText(file))) {
      ++number;
      EXPECT_FALSE(std::regex_search(line, path)) << file << ":" << number << ": " << line;
    }
  }
}

TEST(Files, NoneHoldsTabsTrailingBlanksOrCarriageReturns) {
  for (const std::string& file : Files()) {
    if (!IsText(file)) continue;
    int number = 0;
    for (const std::string& line : Lines(ReadText(file))) {
      ++number;
      EXPECT_EQ(line.find_first_of("\t\r"), std::string::npos) << file << ":" << number;
      EXPECT_FALSE(EndsWith(line, " ")) << file << ":" << number << ": trailing blank";
    }
  }
}

TEST(Files, TestSourcesAreBuilt) {
  const std::string lists = ReadText("tests/CMakeLists.txt");
  for (const std::string& file : Files()) {
    if (!EndsWith(file, "_test.cc")) continue;
    if (file.rfind("tests/", 0) != 0) continue;
    const std::string folder = file.substr(6, file.rfind('/') - 6);
    EXPECT_NE(lists.find("soci_test(" + folder + " "), std::string::npos)
        << file << " is in no soci_test line of tests/CMakeLists.txt";
  }
}

}  // namespace
}  // namespace soci::house
