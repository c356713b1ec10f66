#include "bench/report/page.h"

#include <fmt/format.h>

#include <set>

#include "bench/report/html.h"
#include "bench/report/plots.h"
#include "bench/report/tables.h"
#include "bench/report/terminal.h"
#include "bench/report/timeline.h"

namespace soci::bench {
namespace {

std::string Section(const ScenarioView& view, bool of_sweep) {
  std::string html =
      fmt::format("<section>\n<h2>{}</h2>\n<p class=\"about\">{}</p>\n", EscapeHtml(view.name), EscapeHtml(view.about));
  if (!view.note.empty()) html += fmt::format("<p>{}</p>\n", EscapeHtml(view.note));
  for (const std::string& headline : view.Headlines()) {
    html += fmt::format("<p class=\"headline\">{}</p>\n", EscapeHtml(headline));
  }
  for (const ModeView& mode : view.modes) {
    for (const std::string& error : mode.errors) {
      html += fmt::format("<p class=\"failed\">Failed: {}, {}</p>\n", EscapeHtml(mode.mode), EscapeHtml(error));
    }
  }
  html += HtmlTitled("Median time (least to greatest) until each point", TimeTable(view));
  html += HtmlTitled("Each host by itself: median time (soonest to last)", HostTable(view));
  html += HtmlTitled("Ours : others, of the median times", RatioTable(view));
  html += HtmlTitled("All bytes on the disk, beside a plain download of them", DownloadTable(view));
  if (!of_sweep)
    html += HtmlPlot("When each point is reached; bars below the dots show the spread", DrawTimeline(view));
  html += HtmlTitled("What the registry had sent, and was asked, by then", TrafficTable(view));
  if (!of_sweep) html += HtmlPlot("Bytes from the registry over time, median run", DrawBytesOverTime(view));
  html += HtmlPlot("How long single reads took", DrawReadLatency(view));
  html += HtmlTitled("Latency of single reads", ReadTable(view));
  html += HtmlTitled("What it took", FigureTable(view));
  return html + "</section>\n";
}

}  // namespace

std::string HtmlReport(const Result& result) {
  const Environment& environment = result.environment;
  std::vector<std::string> about = EnvironmentLines(environment);
  for (const Calibration& calibration : result.calibrations) about.push_back(CalibrationText(calibration));
  std::string html;
  std::vector<ScenarioView> views;
  for (const Scenario& scenario : result.scenarios) views.push_back(MakeView(scenario));
  std::set<std::string> drawn;
  for (const ScenarioView& view : views) {
    const auto sweep = ParseSweepName(view.name);
    if (sweep && drawn.insert(sweep->name).second) {
      html += fmt::format("<h2>{}</h2>\n", EscapeHtml(sweep->name));
      html +=
          HtmlPlot("Time until the work is finished, by how much of the image it reads", DrawSweep(sweep->name, views));
    }
    html += Section(view, sweep.has_value());
  }
  return HtmlPage("soci-bench, " + environment.date, about, html);
}

}  // namespace soci::bench
