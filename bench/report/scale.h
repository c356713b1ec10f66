// From figures to places on paper: a linear or logarithmic axis and its round ticks. Pure.
#pragma once

#include <vector>

namespace soci::bench {

class Scale {
 public:
  enum class Kind { kLinear, kLogarithmic };

  // Figures from `low` to `high` lie between the places `from` and `to`. Whatever the figures are, the scale is usable:
  // an empty or senseless range is widened.
  Scale(Kind kind, double low, double high, double from, double to);

  // Figures out of range lie on the nearer end.
  double operator()(double figure) const;
  // Round figures in range; about `count` of them, a logarithmic axis has 1, 2, 5 of each power of ten or less.
  std::vector<double> Ticks(int count) const;

 private:
  Kind kind_;
  double low_, high_, from_, to_;
};

}  // namespace soci::bench
