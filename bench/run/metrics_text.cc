#include "bench/run/metrics_text.h"

#include <cstdlib>
#include <sstream>

namespace soci::bench {

std::map<std::string, double> ParseMetrics(std::string_view text, std::string_view prefix) {
  std::map<std::string, double> values;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, prefix.size(), prefix) != 0) continue;
    const size_t labels_end = line.rfind('}');
    const size_t blank = line.find(' ', labels_end == std::string::npos ? 0 : labels_end);
    if (blank == std::string::npos) continue;
    char* end = nullptr;
    const double value = std::strtod(line.c_str() + blank + 1, &end);
    if (end != line.c_str() + blank + 1) values[line.substr(0, blank)] = value;
  }
  return values;
}

}  // namespace soci::bench
