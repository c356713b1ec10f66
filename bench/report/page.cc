#include "bench/report/page.h"

#include <fmt/format.h>

#include <set>

#include "bench/report/plots.h"
#include "bench/report/tables.h"
#include "bench/report/terminal.h"
#include "bench/report/timeline.h"

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
th, td { padding: 3px 0 3px 11px; text-align: right; white-space: nowrap; border-bottom: 1px solid #e2e2e2; vertical-align: top; }
th { font-weight: 600; border-bottom: 1.5px solid #1b1b1b; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
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
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 12px; } h2 { margin-top: 24px; } }
)";

std::string Html(const Table& table) {
  if (table.empty()) return "";
  std::string html = "<div class=\"wide\"><table>\n";
  bool head = true;
  for (const auto& row : table.rows()) {
    html += "<tr>";
    for (const std::string& cell : row) html += fmt::format("<{0}>{1}</{0}>", head ? "th" : "td", EscapeHtml(cell));
    html += "</tr>\n";
    head = false;
  }
  return html + "</table></div>\n";
}

std::string Plot(const std::string& title, const std::string& svg) {
  return svg.empty() ? "" : fmt::format("<figure><h3>{}</h3>\n{}</figure>\n", EscapeHtml(title), svg);
}

std::string Titled(const std::string& title, const Table& table) {
  return table.empty() ? "" : fmt::format("<h3>{}</h3>\n{}", EscapeHtml(title), Html(table));
}

std::string Section(const ScenarioView& view, bool of_sweep) {
  std::string html =
      fmt::format("<section>\n<h2>{}</h2>\n<p class=\"about\">{}</p>\n", EscapeHtml(view.name), EscapeHtml(view.about));
  for (const std::string& headline : view.Headlines()) {
    html += fmt::format("<p class=\"headline\">{}</p>\n", EscapeHtml(headline));
  }
  for (const ModeView& mode : view.modes) {
    for (const std::string& error : mode.errors) {
      html += fmt::format("<p class=\"failed\">Failed: {}, {}</p>\n", EscapeHtml(mode.mode), EscapeHtml(error));
    }
  }
  html += Titled("Median time (least to greatest) until each point", TimeTable(view));
  html += Titled("Each host by itself: median time (soonest to last)", HostTable(view));
  html += Titled("Ours : others, of the median times", RatioTable(view));
  html += Titled("All bytes on the disk, beside a plain download of them", DownloadTable(view));
  if (!of_sweep) html += Plot("When each point is reached; bars below the dots show the spread", DrawTimeline(view));
  html += Titled("What the registry had sent, and was asked, by then", TrafficTable(view));
  if (!of_sweep) html += Plot("Bytes from the registry over time, median run", DrawBytesOverTime(view));
  html += Plot("How long single reads took", DrawReadLatency(view));
  html += Titled("Latency of single reads", ReadTable(view));
  html += Titled("What it took", FigureTable(view));
  return html + "</section>\n";
}

}  // namespace

std::string HtmlReport(const Result& result) {
  const Environment& environment = result.environment;
  const std::string title = fmt::format("soci-bench, {}", environment.date);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n"
      "<h1>{0}</h1>\n<p class=\"about\">commit {2}, {3}</p>\n<p class=\"about\">{4}</p>\n",
      EscapeHtml(title), kStyle, EscapeHtml(environment.commit), EscapeHtml(environment.product),
      EscapeHtml(MachineText(environment)));
  for (const Calibration& calibration : result.calibrations) {
    html += fmt::format("<p class=\"about\">{}</p>\n", EscapeHtml(CalibrationText(calibration)));
  }
  std::vector<ScenarioView> views;
  for (const Scenario& scenario : result.scenarios) views.push_back(MakeView(scenario));
  std::set<std::string> drawn;
  for (const ScenarioView& view : views) {
    const auto sweep = ParseSweepName(view.name);
    if (sweep && drawn.insert(sweep->name).second) {
      html += fmt::format("<h2>{}</h2>\n", EscapeHtml(sweep->name));
      html += Plot("Time until the work is finished, by how much of the image it reads", DrawSweep(sweep->name, views));
    }
    html += Section(view, sweep.has_value());
  }
  return html + "</body>\n</html>\n";
}

}  // namespace soci::bench
