// What a Prometheus page says, as numbers by name; labels stay part of the name. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace soci::bench {

// Only metrics whose name begins with `prefix`; lines that are no sample are passed over.
std::map<std::string, double> ParseMetrics(std::string_view text, std::string_view prefix);

}  // namespace soci::bench
