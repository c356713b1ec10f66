// Figures as people read them: three digits, the unit that fits. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/result/statistics.h"

namespace soci::bench {

enum class Unit { kSeconds, kMilliseconds, kBytes, kCount };

// "0.52", "41.2", "128": three digits, as many decimals as that leaves.
std::string ThreeDigits(double number);
// "12.1 MB"; powers of ten.
std::string Bytes(double bytes);
// With its unit: "1.41 s", "31 ms", "12.1 MB", "35".
std::string Quantity(double value, Unit unit);
// The same as median (min-max); the median alone where there is no spread.
std::string Spread(const Summary& summary, Unit unit);
// Ours : theirs. "1 : 29", "1.38 : 1".
std::string RatioText(double ours_by_theirs);

// Fit for the text of an element and for an attribute's value; what is no UTF-8 and control characters become '?'.
std::string EscapeHtml(std::string_view text);
// The same bytes on one line of a terminal: control characters become '?'.
std::string OneLine(std::string_view text);

}  // namespace soci::bench
