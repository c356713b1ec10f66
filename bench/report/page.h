// A whole result as one HTML page with its plots in it: nothing else is loaded, no script, and it prints. Pure; every
// text of the result is escaped.
#pragma once

#include <string>

#include "bench/result/result.h"

namespace soci::bench {

// Scenarios of one sweep, named "NAME 5%", "NAME 10%" and so on, share one plot: how long the work takes by that share.
std::string HtmlReport(const Result& result);

}  // namespace soci::bench
