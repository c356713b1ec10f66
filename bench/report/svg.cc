#include "bench/report/svg.h"

#include <fmt/format.h>

#include "bench/report/text.h"

namespace soci::bench {
namespace {

std::string Attributes(const Stroke& stroke) {
  std::string text = fmt::format("stroke=\"{}\" stroke-width=\"{:g}\"", stroke.colour, stroke.width);
  if (!stroke.dashes.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes);
  return text;
}

}  // namespace

Svg::Svg(double width, double height, std::string title)
    : body_(fmt::format("<svg viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" role=\"img\">\n<title>{2}</title>\n", width,
                        height, EscapeHtml(title))) {}

void Svg::Line(Place from, Place to, const Stroke& stroke) {
  body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", from.x, from.y, to.x,
                       to.y, Attributes(stroke));
}

void Svg::Path(const std::vector<Place>& places, const Stroke& stroke) {
  if (places.empty()) return;
  std::string points;
  for (const Place& place : places) points += fmt::format("{:.1f},{:.1f} ", place.x, place.y);
  body_ +=
      fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>\n", points, Attributes(stroke));
}

void Svg::Dot(Place place, double radius, const std::string& fill, const std::string& edge) {
  body_ +=
      fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"/>\n",
                  place.x, place.y, radius, fill, edge);
}

void Svg::Text(Place place, std::string_view text, std::string_view anchor, std::string_view style_class) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", place.x, place.y,
                       anchor, style_class, EscapeHtml(text));
}

std::string Svg::Finish() && { return std::move(body_) + "</svg>\n"; }

double TextWidth(std::string_view text, double font_size) {
  return static_cast<double>(text.size()) * font_size * 0.56;
}

}  // namespace soci::bench
