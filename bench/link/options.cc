#include "bench/link/options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>

namespace soci {
namespace {

Result<double> ParseQuantity(std::string_view text, const std::map<std::string, double>& units) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  const auto unit = units.find(end);
  if (end == copy.c_str() || !(number >= 0 && number <= 1e12) || unit == units.end()) {
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" is no number with a unit such as {}", text, units.rbegin()->first));
  }
  return number * unit->second;
}

}  // namespace

Result<std::chrono::milliseconds> ParseDelay(std::string_view text) {
  SOCI_ASSIGN_OR_RETURN(const double ms, ParseQuantity(text, {{"s", 1000}, {"ms", 1}}));
  return std::chrono::milliseconds(static_cast<int64_t>(ms));
}

Result<uint64_t> ParseRate(std::string_view text) {
  if (text == "0") return 0;
  SOCI_ASSIGN_OR_RETURN(const double rate, ParseQuantity(text, {{"B/s", 1},
                                                                {"kB/s", 1e3},
                                                                {"MB/s", 1e6},
                                                                {"GB/s", 1e9},
                                                                {"KiB/s", 1024},
                                                                {"MiB/s", 1 << 20},
                                                                {"GiB/s", 1 << 30}}));
  return static_cast<uint64_t>(rate);
}

}  // namespace soci
