#include "bench/report/terminal.h"

#include <fmt/format.h>

#include "bench/report/tables.h"

namespace soci::bench {

std::string MachineText(const Environment& environment) {
  std::string text = fmt::format("{} core{}", environment.cores, environment.cores == 1 ? "" : "s");
  if (!environment.cpu.empty()) text += ", " + environment.cpu;
  if (environment.memory_bytes > 0) {
    text += ", " + Bytes(static_cast<double>(environment.memory_bytes)) + " of memory";
  }
  if (!environment.kernel.empty()) text += ", kernel " + environment.kernel;
  if (!environment.containerd.empty()) text += ", containerd " + environment.containerd;
  return text;
}

std::string CalibrationText(const Calibration& calibration) {
  std::string text = "link " + calibration.link + ", by plain downloads: ";
  text += Quantity(calibration.delay_ms, Unit::kMilliseconds) + " to the first byte";
  if (calibration.rate_one > 0) text += ", " + Bytes(calibration.rate_one) + "/s on one connection";
  if (calibration.rate_all > 0) text += ", " + Bytes(calibration.rate_all) + "/s on all";
  return text;
}

std::string TerminalReport(const Scenario& scenario) {
  const ScenarioView view = MakeView(scenario);
  std::string text = OneLine(view.Title()) + "\n";
  if (!view.note.empty()) text += OneLine(view.note) + "\n";
  for (const std::string& headline : view.Headlines()) text += OneLine(headline) + "\n";
  for (const Table& table : {TimeTable(view), HostTable(view), RatioTable(view), DownloadTable(view),
                             TrafficTable(view), FigureTable(view), ReadTable(view)}) {
    if (!table.empty()) text += "\n" + table.ToText();
  }
  for (const ModeView& mode : view.modes) {
    for (const std::string& error : mode.errors) text += OneLine(fmt::format("FAILED {}, {}", mode.mode, error)) + "\n";
  }
  return text;
}

std::vector<std::string> EnvironmentLines(const Environment& environment) {
  std::vector<std::string> lines = {fmt::format("commit {}, {}", environment.commit, environment.product),
                                    MachineText(environment)};
  for (const auto& [mode, version] : environment.others) lines.push_back(fmt::format("{}: {}", mode, version));
  return lines;
}

std::string TerminalReport(const Result& result) {
  std::string text = OneLine(result.environment.date) + "\n";
  for (const std::string& line : EnvironmentLines(result.environment)) text += OneLine(line) + "\n";
  for (const Calibration& calibration : result.calibrations) text += OneLine(CalibrationText(calibration)) + "\n";
  for (const Scenario& scenario : result.scenarios) text += "\n" + TerminalReport(scenario);
  return text;
}

}  // namespace soci::bench
