// Lines over two axes, each labelled at its own end, so that no legend is needed. Pure.
#pragma once

#include <string>
#include <vector>

#include "bench/report/scale.h"
#include "bench/report/svg.h"

namespace soci::bench {

struct Series {
  struct Sample {
    double x = 0, y = 0;
    double low = 0, high = 0;  // the spread of y; equal where there is none
  };
  std::string label;
  Stroke stroke;
  std::vector<Sample> samples;  // by x
  bool dots = false;
  double label_share = 1;  // where along its samples the label stands; 1: beside the plot, with a line to it
};

struct Chart {
  std::string title, x_name, y_name;  // the names with their units
  Scale::Kind x_kind = Scale::Kind::kLinear;
  double y_high = 0;  // 0: what the samples need
  std::vector<Series> series;
};

// Long series are thinned to what the paper can show. "" if there is nothing to draw.
std::string Draw(const Chart& chart);

}  // namespace soci::bench
