#include "bench/report/table.h"

#include <algorithm>

namespace soci::bench {
namespace {

// Characters, not bytes.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

}  // namespace

std::string Table::ToText() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  for (size_t number = 0; number < rows_.size(); ++number) {
    std::string line;
    for (size_t i = 0; i < rows_[number].size(); ++i) {
      const std::string& cell = rows_[number][i];
      const std::string padding(widths[i] - Width(cell), ' ');
      line += i == 0 ? cell + padding : "  " + padding + cell;
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (number == 0) text += std::string(Width(line), '-') + "\n";
  }
  return text;
}

}  // namespace soci::bench
