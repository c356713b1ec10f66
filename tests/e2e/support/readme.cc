#include "tests/e2e/support/readme.h"

#include <fstream>

namespace soci::test {

std::map<std::string, std::vector<std::string>> ReadmeCommands() {
  std::ifstream stream(std::string(SOCI_SOURCE_DIR) + "/README.md");
  std::map<std::string, std::vector<std::string>> commands;
  std::string section;
  bool in_block = false, is_shell = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("```", 0) == 0) {
      in_block = !in_block;
      is_shell = line == "```sh";
    } else if (in_block && is_shell) {
      commands[section].push_back(line);
    } else if (!in_block && line.rfind("## ", 0) == 0) {
      section = line.substr(3);
    }
  }
  return commands;
}

}  // namespace soci::test
