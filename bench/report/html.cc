#include "bench/report/html.h"

#include <fmt/format.h>

#include "bench/report/text.h"

namespace soci::bench {
namespace {

constexpr char kStyle[] = R"(
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, "Helvetica Neue", Arial, sans-serif; color: #1b1b1b; background: #fff;
  max-width: 880px; margin: 28px auto; padding: 0 20px; }
h1 { font-size: 25px; margin: 0 0 4px; }
h2 { font-size: 19px; margin: 40px 0 2px; padding-top: 12px; border-top: 2px solid #1b1b1b; }
h3 { font-size: 14px; margin: 22px 0 4px; }
p { margin: 4px 0; }
.about { color: #555; font-size: 13px; }
.headline { font-size: 15px; font-weight: 600; margin: 6px 0; }
.failed { color: #8c1010; font-weight: 600; }
table { border-collapse: collapse; font-size: 12.5px; font-variant-numeric: tabular-nums; margin: 4px 0 10px; }
th, td { padding: 3px 0 3px 11px; text-align: right; border-bottom: 1px solid #e2e2e2; vertical-align: top; }
th { font-weight: 600; border-bottom: 1.5px solid #1b1b1b; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td span { white-space: nowrap; color: #555; }
.wide { overflow-x: auto; }
svg { display: block; max-width: 100%; height: auto; margin: 2px 0 8px; }
svg text { font: 12px system-ui, "Helvetica Neue", Arial, sans-serif; fill: #1b1b1b; paint-order: stroke; stroke: #fff;
  stroke-width: 3px; stroke-linejoin: round; }
svg .tick, svg .axis { fill: #555; }
svg .label { font-weight: 600; }
svg .point { font-size: 11.5px; }
section, figure { margin: 0; }
figure, tr { break-inside: avoid; }
h2, h3 { break-after: avoid; }
@page { margin: 15mm; }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 12px; } h2 { margin-top: 24px; }
  .wide { overflow: visible; } th, td { padding-left: 9px; } table { font-size: 11.5px; } }
)";

// Whether the word after a space belongs to what is before it: a number's unit, the other side of a ratio or a pair.
bool BelongsTo(char before, std::string_view rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  if (word == ":" || word == "/") return true;
  if (before < '0' || before > '9') return before == ':';
  for (const std::string_view unit : {"s", "ms", "B", "kB", "MB", "GB", "TB", "%"}) {
    if (word == unit) return true;
  }
  return false;
}

// A narrow column breaks a cell between quantities and after the words of a metric's name, not within a quantity.
std::string HtmlCell(const std::string& cell) {
  const std::string escaped = EscapeHtml(cell);
  std::string html;
  for (size_t i = 0; i < escaped.size(); ++i) {
    const std::string_view rest = std::string_view(escaped).substr(i + 1);
    const bool spread = escaped[i] == '(' && rest.find(')') == rest.size() - 1;
    if (escaped[i] == '{') html += "<wbr>";
    if (spread) html += "<span>";
    html += i > 0 && escaped[i] == ' ' && BelongsTo(escaped[i - 1], rest) ? "&nbsp;" : escaped.substr(i, 1);
    if (escaped[i] == '_') html += "<wbr>";
    if (spread) return html + std::string(rest) + "</span>";
  }
  return html;
}

}  // namespace

std::string HtmlTable(const Table& table) {
  if (table.empty()) return "";
  std::string html = "<div class=\"wide\"><table>\n";
  bool head = true;
  for (const auto& row : table.rows()) {
    html += "<tr>";
    for (const std::string& cell : row) html += fmt::format("<{0}>{1}</{0}>", head ? "th" : "td", HtmlCell(cell));
    html += "</tr>\n";
    head = false;
  }
  return html + "</table></div>\n";
}

std::string HtmlPlot(const std::string& title, const std::string& svg) {
  return svg.empty() ? "" : fmt::format("<figure><h3>{}</h3>\n{}</figure>\n", EscapeHtml(title), svg);
}

std::string HtmlTitled(const std::string& title, const Table& table) {
  return table.empty() ? "" : fmt::format("<h3>{}</h3>\n{}", EscapeHtml(title), HtmlTable(table));
}

std::string HtmlPage(const std::string& title, const std::vector<std::string>& about, const std::string& body) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      EscapeHtml(title), kStyle);
  for (const std::string& line : about) html += fmt::format("<p class=\"about\">{}</p>\n", EscapeHtml(line));
  return html + body + "</body>\n</html>\n";
}

}  // namespace soci::bench
