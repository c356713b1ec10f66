// A drawing as inline SVG: lines, dots and words at places in pixels, from the upper left corner. Pure; text is
// escaped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace soci::bench {

struct Place {
  double x = 0, y = 0;
};

// How a mode's line looks, so that lines can be told apart in grey too.
struct Stroke {
  std::string colour = "#222";
  double width = 1;
  std::string dashes = "";  // as stroke-dasharray
};

class Svg {
 public:
  Svg(double width, double height, std::string title);

  void Line(Place from, Place to, const Stroke& stroke);
  void Path(const std::vector<Place>& places, const Stroke& stroke);
  void Dot(Place place, double radius, const std::string& fill, const std::string& edge);
  // `anchor`: start, middle or end. A halo keeps words readable where lines cross them.
  void Text(Place place, std::string_view text, std::string_view anchor = "start", std::string_view style_class = "");

  std::string Finish() &&;

 private:
  std::string body_;
};

// About how wide a text is drawn; fonts differ a little.
double TextWidth(std::string_view text, double font_size = 12);

}  // namespace soci::bench
