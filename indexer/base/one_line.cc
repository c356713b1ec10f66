#include "indexer/base/one_line.h"

#include <algorithm>

namespace soci {

std::string OneLine(std::string_view text) {
  std::string line(text);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  return line;
}

}  // namespace soci
