// The README's commands: lines of its fenced blocks that are marked as commands to type, by the section they are in.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace soci::test {

// The image that its commands name.
inline constexpr char kImageInReadme[] = "registry.example.com/team/train:1.4";

std::map<std::string, std::vector<std::string>> ReadmeCommands();

}  // namespace soci::test
