#include "bench/run/workload_output.h"

#include <sstream>

namespace soci::bench {

void ReadWorkloadOutput(std::string_view output, Run& run) {
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, name;
    double value = 0;
    words >> first;
    if (first == "reads_ms") {
      while (words >> value) run.read_milliseconds.push_back(value);
    } else if (first == "count" && words >> name >> value) {
      run.counts[name] = value;
    }
  }
}

bool HasLineWith(std::string_view output, std::string_view text) {
  const size_t at = output.find(text);
  return at != std::string_view::npos && output.find('\n', at + text.size()) != std::string_view::npos;
}

}  // namespace soci::bench
