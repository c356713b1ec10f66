#include "indexer/cli/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace soci::cli {

std::string HumanSize(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string Table(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& right) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      const bool to_right = std::find(right.begin(), right.end(), column) != right.end();
      if (column > 0) line += "  ";
      line += to_right ? fmt::format("{:>{}}", row[column], widths[column])
                       : fmt::format("{:<{}}", row[column], widths[column]);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string ShortDigest(const std::string& digest) {
  constexpr size_t kShown = sizeof("sha256:") - 1 + 12;
  return digest.substr(0, kShown);
}

}  // namespace soci::cli
