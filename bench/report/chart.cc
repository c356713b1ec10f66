#include "bench/report/chart.h"

#include <algorithm>
#include <cmath>

#include "bench/report/text.h"

namespace soci::bench {
namespace {

constexpr double kWidth = 860, kHeight = 330;
constexpr double kLeft = 64, kRight = 690, kTop = 34, kBottom = 280;
constexpr double kLabelGap = 16;
constexpr size_t kMostSamples = 400;

const Stroke kAxis{"#333", 1, ""}, kGrid{"#e2e2e2", 1, ""};

using Samples = std::vector<Series::Sample>;

Samples Drawable(const Samples& all) {
  Samples finite;
  for (const Series::Sample& sample : all) {
    if (std::isfinite(sample.x) && std::isfinite(sample.y)) finite.push_back(sample);
  }
  if (finite.size() <= kMostSamples) return finite;
  Samples thin;
  for (size_t i = 0; i < kMostSamples; ++i) thin.push_back(finite[i * (finite.size() - 1) / (kMostSamples - 1)]);
  return thin;
}

struct EndLabel {
  double y;      // where it should be
  double end_x;  // of its line
  double end_y;
  const Series* series;
};

// Labels keep their order and a line's distance; all stay on the paper.
void Spread(std::vector<EndLabel>& labels) {
  std::sort(labels.begin(), labels.end(), [](const EndLabel& a, const EndLabel& b) { return a.y < b.y; });
  for (size_t i = 1; i < labels.size(); ++i) labels[i].y = std::max(labels[i].y, labels[i - 1].y + kLabelGap);
  if (labels.empty() || labels.back().y <= kBottom) return;
  labels.back().y = kBottom;
  for (size_t i = labels.size() - 1; i-- > 0;) labels[i].y = std::min(labels[i].y, labels[i + 1].y - kLabelGap);
}

void DrawAxes(Svg& svg, const Chart& chart, const Scale& x, const Scale& y) {
  for (const double tick : y.Ticks(5)) {
    svg.Line({kLeft, y(tick)}, {kRight, y(tick)}, kGrid);
    svg.Text({kLeft - 8, y(tick) + 4}, Quantity(tick, Unit::kCount), "end", "tick");
  }
  for (const double tick : x.Ticks(9)) {
    svg.Line({x(tick), kBottom}, {x(tick), kBottom + 5}, kAxis);
    svg.Text({x(tick), kBottom + 20}, Quantity(tick, Unit::kCount), "middle", "tick");
  }
  svg.Line({kLeft, kBottom}, {kRight, kBottom}, kAxis);
  svg.Text({kRight, kBottom + 40}, chart.x_name, "end", "axis");
  svg.Text({8, kTop - 16}, chart.y_name, "start", "axis");
}

}  // namespace

std::string Draw(const Chart& chart) {
  std::vector<Series> all = chart.series;
  double x_low = INFINITY, x_high = -INFINITY, y_high = chart.y_high;
  for (Series& series : all) {
    series.samples = Drawable(series.samples);
    for (const Series::Sample& sample : series.samples) {
      x_low = std::min(x_low, sample.x);
      x_high = std::max(x_high, sample.x);
      if (chart.y_high == 0) y_high = std::max({y_high, sample.y, sample.high});
    }
  }
  if (!(x_low <= x_high)) return "";
  const bool linear = chart.x_kind == Scale::Kind::kLinear;
  const Scale x(chart.x_kind, linear ? std::min(0.0, x_low) : x_low, x_high, kLeft, kRight);
  const Scale y(Scale::Kind::kLinear, 0, y_high, kBottom, kTop);
  Svg svg(kWidth, kHeight, chart.title);
  DrawAxes(svg, chart, x, y);
  std::vector<EndLabel> labels, beside;
  for (const Series& series : all) {
    if (series.samples.empty()) continue;
    std::vector<Place> places;
    for (const Series::Sample& sample : series.samples) {
      places.push_back({x(sample.x), y(sample.y)});
      if (sample.high > sample.low) {
        svg.Line({x(sample.x), y(sample.low)}, {x(sample.x), y(sample.high)}, {series.stroke.colour, 1, ""});
      }
    }
    svg.Path(places, series.stroke);
    if (series.dots) {
      for (const Place& place : places) svg.Dot(place, 3, series.stroke.colour, "#fff");
    }
    if (series.label_share < 1) {
      const Place& at = places[static_cast<size_t>(series.label_share * static_cast<double>(places.size() - 1))];
      beside.push_back({at.y, at.x, at.y, &series});
      continue;
    }
    labels.push_back({places.back().y, places.back().x, places.back().y, &series});
  }
  for (const EndLabel& label : beside) {
    svg.Dot({label.end_x, label.y}, 2.5, label.series->stroke.colour, "#fff");
    svg.Text({label.end_x + 8, label.y + 4}, label.series->label, "start", "label");
  }
  Spread(labels);
  for (const EndLabel& label : labels) {
    const Stroke lead{label.series->stroke.colour, 0.75, "1 2"};
    svg.Line({label.end_x + 4, label.end_y}, {kRight + 8, label.y}, lead);
    svg.Line({kRight + 10, label.y}, {kRight + 38, label.y}, label.series->stroke);
    svg.Text({kRight + 44, label.y + 4}, label.series->label, "start", "label");
  }
  return std::move(svg).Finish();
}

}  // namespace soci::bench
