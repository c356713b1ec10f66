#include "tests/house/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace soci::house {
namespace {

namespace fs = std::filesystem;

std::string Trim(std::string text) {
  auto keep = [](char c) { return c != ' ' && c != '`'; };
  text.erase(text.begin(), std::find_if(text.begin(), text.end(), keep));
  text.erase(std::find_if(text.rbegin(), text.rend(), keep).base(), text.end());
  return text;
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(Trim(part));
  return parts;
}

std::string TopOf(const std::string& path) { return path.substr(0, path.find('/')); }

// A short name is the neighbour of that name, else the room of that name in indexer/.
std::string Resolve(const std::string& name, const std::string& user, const std::map<std::string, Room>& rooms) {
  if (name.find('/') != std::string::npos) return name;
  std::string neighbour = TopOf(user) + "/" + name;
  return rooms.count(neighbour) ? neighbour : "indexer/" + name;
}

std::map<std::string, Room> ReadRooms() {
  std::map<std::string, Room> rooms;
  std::map<std::string, std::string> may_use;
  for (const std::string& line : Lines(ReadText("docs/architecture.md"))) {
    std::vector<std::string> cells = Split(line, '|');
    if (cells.size() < 5 || line.rfind("| `", 0) != 0) continue;
    const std::string& name = cells[1];
    may_use[name] = cells[3];
    for (const std::string& one : Split(cells[4], ',')) {
      for (const std::string& library : Split(one, '/')) rooms[name].third_party.insert(library);
    }
  }
  for (auto& [name, room] : rooms) {
    const std::string& list = may_use[name];
    if (list == "everything") {
      room.everything = true;
    } else if (list == "every indexer room") {
      for (const auto& [other, unused] : rooms) {
        if (TopOf(other) == "indexer" || TopOf(other) == "proto") room.may_use.insert(other);
      }
    } else if (list != "-") {
      for (const std::string& used : Split(list, ',')) room.may_use.insert(Resolve(used, name, rooms));
    }
  }
  return rooms;
}

}  // namespace

std::vector<std::string> Files() {
  std::vector<std::string> files;
  const fs::path top(SOCI_SOURCE_DIR);
  for (auto entry = fs::recursive_directory_iterator(top); entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string path = fs::relative(entry->path(), top).string();
    if (path == "build" || path == ".git" || path == "tests/golden" || path == "tests/fuzz/corpus") {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool IsSource(const std::string& file) { return EndsWith(file, ".h") || EndsWith(file, ".cc"); }

std::string ReadText(const std::string& file) {
  std::ifstream stream(std::string(SOCI_SOURCE_DIR) + "/" + file, std::ios::binary);
  EXPECT_TRUE(stream) << "cannot read " << file;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Include> Includes(const std::string& file) {
  static const std::regex pattern(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)re");
  std::vector<Include> includes;
  int number = 0;
  for (const std::string& line : Lines(ReadText(file))) {
    ++number;
    std::smatch match;
    if (std::regex_match(line, match, pattern)) includes.push_back({file, number, match[2], match[1] == "<"});
  }
  return includes;
}

const std::map<std::string, Room>& Rooms() {
  static const std::map<std::string, Room> rooms = ReadRooms();
  return rooms;
}

std::string RoomOf(const std::string& file) {
  const std::string top = TopOf(file);
  if (top != "proto" && top != "indexer" && top != "fuse" && top != "snapshotter") return "";
  const size_t second = file.find('/', top.size() + 1);
  return second == std::string::npos ? "" : file.substr(0, second);
}

}  // namespace soci::house
