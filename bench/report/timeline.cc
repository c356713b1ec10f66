#include "bench/report/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/report/scale.h"

namespace soci::bench {
namespace {

constexpr double kWidth = 860, kLeft = 120, kRight = 694;
constexpr double kLevel = 15, kRowGap = 26;
constexpr double kLogFrom = 12;  // latest : first
constexpr double kFontSize = 11.5;
constexpr double kLeastDrawn = 0.005;  // what came earlier was there already

const Stroke kAxis{"#333", 1, ""}, kGrid{"#ececec", 1, ""};

struct Label {
  std::string text;
  Summary seconds;
  double x = 0;  // of its dot
  size_t level = 0;
};

// A label's words stand to the right of its dot, above those of every later dot that they reach: so the line down to a
// dot crosses no words.
size_t PlaceLabels(std::vector<Label>& labels) {
  size_t levels = 0;
  for (size_t i = labels.size(); i-- > 0;) {
    const double end = labels[i].x + TextWidth(labels[i].text, kFontSize) + 4;
    for (size_t later = i + 1; later < labels.size(); ++later) {
      if (labels[later].x < end) labels[i].level = std::max(labels[i].level, labels[later].level + 1);
    }
    levels = std::max(levels, labels[i].level + 1);
  }
  return levels;
}

std::vector<Label> LabelsOf(const ModeView& mode, const Scale& x, double least) {
  std::vector<const PointView*> points;
  for (const PointView& point : mode.points) {
    if (point.seconds.median >= least) points.push_back(&point);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](auto* a, auto* b) { return a->seconds.median < b->seconds.median; });
  std::vector<Label> labels;
  for (const PointView* point : points) {
    labels.push_back({OneLine(point->name) + " " + Quantity(point->seconds.median, Unit::kSeconds), point->seconds,
                      x(point->seconds.median)});
  }
  return labels;
}

void DrawRow(Svg& svg, const ModeView& mode, const Stroke& stroke, const std::vector<Label>& labels, const Scale& x,
             double y) {
  svg.Text({kLeft - 12, y + 4}, mode.mode, "end", "label");
  if (labels.empty()) {
    svg.Text({kLeft, y + 4}, mode.runs == 0 ? "failed" : "", "start", "axis");
    return;
  }
  svg.Line({labels.front().x, y}, {labels.back().x, y}, stroke);
  const auto words_y = [&](const Label& label) { return y - 11 - static_cast<double>(label.level) * kLevel; };
  for (const Label& label : labels) svg.Line({label.x, y - 4}, {label.x, words_y(label) - 8}, {"#999", 0.75, ""});
  for (const Label& label : labels) {
    svg.Text({label.x + 3, words_y(label)}, label.text, "start", "point");
    if (label.seconds.max > label.seconds.min) {
      svg.Line({x(label.seconds.min), y + 8}, {x(label.seconds.max), y + 8}, {stroke.colour, 3, ""});
    }
    svg.Dot({label.x, y}, 4, stroke.colour, "#fff");
  }
}

}  // namespace

Stroke StrokeOf(const ScenarioView& view, size_t mode) {
  static const std::array<Stroke, 3> kOurs = {
      {{"#0b3c8c", 2.75, ""}, {"#3f7fd0", 2.5, "9 3"}, {"#174f4f", 2.25, "4 2"}}};
  static const std::array<Stroke, 4> kTheirs = {
      {{"#a8481c", 2, ""}, {"#c98a2b", 2, "7 3"}, {"#7a3a78", 2, "3 3"}, {"#5c5c2a", 2, "10 3 2 3"}}};
  static const Stroke kFloor{"#8a8a8a", 2, "2 3"};
  const Role role = view.modes[mode].role;
  if (role == Role::kFloor) return kFloor;
  size_t before = 0;
  for (size_t i = 0; i < mode; ++i) before += view.modes[i].role == role;
  return role == Role::kOurs ? kOurs[before % kOurs.size()] : kTheirs[before % kTheirs.size()];
}

std::string DrawTimeline(const ScenarioView& view) {
  double first = INFINITY, last = 0;
  for (const ModeView& mode : view.modes) {
    for (const PointView& point : mode.points) {
      if (point.seconds.min >= kLeastDrawn) first = std::min(first, point.seconds.min);
      last = std::max(last, point.seconds.max);
    }
  }
  if (!(first <= last) || view.points.size() < 2) return "";
  const bool log = last > first * kLogFrom;
  const Scale x(log ? Scale::Kind::kLogarithmic : Scale::Kind::kLinear, log ? first : 0, last, kLeft, kRight);

  std::vector<std::vector<Label>> labels;
  std::vector<double> rows;
  double y = 8;
  for (const ModeView& mode : view.modes) {
    labels.push_back(LabelsOf(mode, x, log ? first : 0));
    y += 14 + static_cast<double>(PlaceLabels(labels.back())) * kLevel;
    rows.push_back(y);
    y += kRowGap;
  }
  const double bottom = y;
  Svg svg(kWidth, bottom + 46, "timeline of each mode");
  for (const double tick : x.Ticks(10)) {
    svg.Line({x(tick), 0}, {x(tick), bottom}, kGrid);
    svg.Line({x(tick), bottom}, {x(tick), bottom + 5}, kAxis);
    svg.Text({x(tick), bottom + 20}, Quantity(tick, Unit::kCount), "middle", "tick");
  }
  svg.Line({kLeft, bottom}, {kRight, bottom}, kAxis);
  svg.Text({kRight, bottom + 40},
           log ? "seconds since the pull request, logarithmic" : "seconds since the pull request", "end", "axis");
  for (size_t i = 0; i < rows.size(); ++i) DrawRow(svg, view.modes[i], StrokeOf(view, i), labels[i], x, rows[i]);
  return std::move(svg).Finish();
}

}  // namespace soci::bench
