// Documents against the things they speak of.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "tests/house/tree.h"

namespace soci::house {
namespace {

TEST(Docs, EveryVerbOfDevThatADocumentNamesExists) {
  static const std::regex call(R"(\./dev ([a-z]+))");
  const std::string dev = ReadText("dev");
  for (const std::string& file : Files()) {
    if (!EndsWith(file, ".md")) continue;
    const std::string text = ReadText(file);
    for (auto it = std::sregex_iterator(text.begin(), text.end(), call); it != std::sregex_iterator(); ++it) {
      const std::string verb = (*it)[1];
      EXPECT_TRUE(std::regex_search(dev, std::regex("\n  " + verb + "( \\|[^)]*)?\\)")))
          << file << " names ./dev " << verb;
    }
  }
}

TEST(Docs, EveryVerbOfDevIsInItsHelp) {
  static const std::regex verb(R"(\n  ([a-z]+)\) (need|verb_|build|rm))");
  const std::string dev = ReadText("dev");
  const std::string page = dev.substr(dev.find("help() {"), dev.find("\nTEXT\n") - dev.find("help() {"));
  int verbs = 0;
  for (auto it = std::sregex_iterator(dev.begin(), dev.end(), verb); it != std::sregex_iterator(); ++it, ++verbs) {
    EXPECT_NE(page.find("\n  " + (*it)[1].str() + " "), std::string::npos) << (*it)[1] << " is not explained";
  }
  EXPECT_GE(verbs, 6) << "the verbs of ./dev are written in a way this test no longer reads";
}

TEST(Docs, LinksBetweenDocumentsLeadSomewhere) {
  static const std::regex link(R"(\]\(([^)#:]+)(#[^)]*)?\))");
  for (const std::string& file : Files()) {
    if (!EndsWith(file, ".md")) continue;
    const std::string text = ReadText(file);
    const auto folder = std::filesystem::path(SOCI_SOURCE_DIR) / std::filesystem::path(file).parent_path();
    for (auto it = std::sregex_iterator(text.begin(), text.end(), link); it != std::sregex_iterator(); ++it) {
      EXPECT_TRUE(std::filesystem::exists(folder / (*it)[1].str())) << file << " links to " << (*it)[1];
    }
  }
}

}  // namespace
}  // namespace soci::house
