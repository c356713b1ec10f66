// The source tree as the house tests see it: files, their lines and includes, and the room table of
// docs/architecture.md.
//
// Plain reading, no writing; paths are relative to the top of the tree. Failures to read are test failures.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace soci::house {

struct Include {
  std::string file;    // who includes
  int line = 0;        // where
  std::string target;  // what stands between the quotes or angles
  bool system = false;
};

struct Room {
  bool everything = false;            // may use every room
  std::set<std::string> may_use;      // full room names
  std::set<std::string> third_party;  // as listed, lower case
};

// Every file that is ours: not build products, not .git, not golden material.
std::vector<std::string> Files();
bool EndsWith(std::string_view text, std::string_view end);
bool IsSource(const std::string& file);  // .h and .cc
std::string ReadText(const std::string& file);
std::vector<std::string> Lines(const std::string& text);
std::vector<Include> Includes(const std::string& file);

// The table of docs/architecture.md, by room.
const std::map<std::string, Room>& Rooms();
// The room a file lies in; "" for tests, bench and what is in no room.
std::string RoomOf(const std::string& file);

}  // namespace soci::house
