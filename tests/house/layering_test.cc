// The room table of docs/architecture.md against what the tree really includes and links.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/house/tree.h"

namespace soci::house {
namespace {

bool MayUse(const std::string& user, const std::string& used) {
  if (user == used) return true;
  auto room = Rooms().find(user);
  return room != Rooms().end() && (room->second.everything || room->second.may_use.count(used));
}

// Which third-party library a header belongs to; "" for the standard library, POSIX and Linux.
std::string LibraryOf(const std::string& header) {
  static const std::vector<std::pair<std::string, std::string>> prefixes = {{"absl/status/", "absl status"},
                                                                            {"absl/", "absl"},
                                                                            {"fmt/", "fmt"},
                                                                            {"spdlog/", "spdlog"},
                                                                            {"nlohmann/", "nlohmann-json"},
                                                                            {"openssl/", "openssl"},
                                                                            {"zlib.h", "zlib"},
                                                                            {"zconf.h", "zlib"},
                                                                            {"libdeflate.h", "libdeflate"},
                                                                            {"isa-l", "isa-l"},
                                                                            {"zstd", "zstd"},
                                                                            {"curl/", "libcurl"},
                                                                            {"toml++/", "toml++"},
                                                                            {"re2/", "re2"},
                                                                            {"grpc", "grpc"},
                                                                            {"google/protobuf/", "protobuf"},
                                                                            {"flatbuffers/", "flatbuffers"},
                                                                            {"CLI/", "cli11"},
                                                                            {"fuse", "libfuse3"},
                                                                            {"sqlite3", "sqlite"},
                                                                            {"re2/", "re2"},
                                                                            {"prometheus/", "prometheus-cpp"},
                                                                            {"gtest/", "gtest"},
                                                                            {"gmock/", "gmock"},
                                                                            {"boost/", "boost"}};
  for (const auto& [prefix, library] : prefixes) {
    if (header.rfind(prefix, 0) == 0) return library;
  }
  static const std::regex own(R"((sys|linux|netinet|net|arpa|asm|bits)/.*|[a-z0-9_]+(\.h)?)");
  return std::regex_match(header, own) ? "" : "unknown library";
}

bool MayUseLibrary(const std::string& room, const std::string& library, bool header) {
  if (library == "absl status" || library == "fmt") return true;  // part of the base room's own interface
  if (header) return false;
  const Room& rules = Rooms().at(room);
  std::set<std::string> allowed;
  for (std::string name : rules.third_party) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    allowed.insert(name);
  }
  if (allowed.count("absl status")) allowed.insert("absl");
  // Whoever speaks gRPC handles protobuf messages.
  if (allowed.count("grpc")) allowed.insert("protobuf");
  return allowed.count(library) > 0;
}

bool IsGenerated(const std::string& header) { return EndsWith(header, ".pb.h") || EndsWith(header, "_generated.h"); }

TEST(Layering, TheTableNamesRoomsThatExistOrArePlanned) {
  ASSERT_GT(Rooms().size(), 20u) << "docs/architecture.md has lost its room table";
  for (const auto& [name, room] : Rooms()) {
    for (const std::string& used : room.may_use) {
      EXPECT_TRUE(Rooms().count(used)) << name << " may use " << used << ", which is no room of the table";
    }
  }
}

TEST(Layering, EveryRoomOfTheTreeIsInTheTable) {
  for (const std::string& file : Files()) {
    const std::string room = RoomOf(file);
    if (!room.empty()) {
      EXPECT_TRUE(Rooms().count(room)) << file << " lies in a room that docs/architecture.md lacks";
    }
  }
}

TEST(Layering, RoomsIncludeOnlyTheRoomsTheyMayUse) {
  for (const std::string& file : Files()) {
    const std::string room = RoomOf(file);
    if (room.empty() || !IsSource(file)) continue;
    for (const Include& include : Includes(file)) {
      if (include.system) continue;
      const std::string used = RoomOf(include.target);
      EXPECT_FALSE(used.empty()) << file << ":" << include.line << " includes \"" << include.target << "\", in no room";
      EXPECT_TRUE(used.empty() || MayUse(room, used))
          << file << ":" << include.line << ": " << room << " may not use " << used;
    }
  }
}

TEST(Layering, RoomsLinkOnlyTheRoomsTheyMayUse) {
  static const std::regex declaration(R"(soci_room\(\s*([a-z/_]+)([^)]*)\))");
  static const std::regex keyword("LIBS|PUBLIC_LIBS");
  for (const std::string top : {"proto", "indexer", "fuse", "snapshotter"}) {
    const std::string file = top + "/CMakeLists.txt";
    const std::string text = ReadText(file);
    for (auto it = std::sregex_iterator(text.begin(), text.end(), declaration); it != std::sregex_iterator(); ++it) {
      const std::string room = (*it)[1];
      bool uses = false;
      std::istringstream words((*it)[2].str());
      for (std::string word; words >> word;) {
        if (word == "USES" || std::regex_match(word, keyword)) {
          uses = word == "USES";
        } else if (uses) {
          EXPECT_TRUE(MayUse(room, word)) << file << ": " << room << " may not use " << word;
        }
      }
    }
  }
}

TEST(Layering, NothingUsesTestsOrBenchAndTheyStayOutOfEachOther) {
  for (const std::string& file : Files()) {
    if (!IsSource(file) || file.rfind("tests/", 0) == 0 || file.rfind("bench/", 0) == 0) continue;
    for (const Include& include : Includes(file)) {
      EXPECT_NE(include.target.rfind("tests/", 0), 0u) << file << ":" << include.line;
      EXPECT_NE(include.target.rfind("bench/", 0), 0u) << file << ":" << include.line;
    }
  }
}

TEST(Layering, ThirdPartyHeadersStayInTheSourceFilesOfTheRoomsThatListThem) {
  for (const std::string& file : Files()) {
    const std::string room = RoomOf(file);
    if (room.empty() || !IsSource(file) || !Rooms().count(room)) continue;
    const bool header = EndsWith(file, ".h");
    for (const Include& include : Includes(file)) {
      if (!include.system) {
        EXPECT_FALSE(header && IsGenerated(include.target))
            << file << ":" << include.line << ": generated code belongs in .cc files";
        continue;
      }
      const std::string library = LibraryOf(include.target);
      EXPECT_TRUE(library.empty() || MayUseLibrary(room, library, header))
          << file << ":" << include.line << ": <" << include.target << "> (" << library << ") is not for "
          << (header ? "a header of " : "") << room;
    }
  }
}

}  // namespace
}  // namespace soci::house
