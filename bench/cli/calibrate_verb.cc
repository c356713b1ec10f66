#include "bench/cli/calibrate_verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "bench/link/calibration.h"
#include "bench/link/options.h"
#include "bench/run/limited_disk.h"
#include "bench/run/measure_disk.h"

namespace soci::bench {
namespace {

constexpr double kMostDeviation = 0.05;

int Fail(int exit_code, std::string_view what) {
  fmt::print(stderr, "soci-bench: {}\n", what);
  return exit_code;
}

int CalibrateVerb(const std::string& text) {
  const auto link = ParseLink(text);
  if (!link.ok()) return Fail(2, Message(link.status()));
  if (link->disk_bytes_per_second > 0) {
    const Status supported = LimitedDisk::Supported();
    if (!supported.ok()) return Fail(2, Message(supported));
  }
  auto calibration = soci::Calibrate(*link);
  if (!calibration.ok()) return Fail(1, Message(calibration.status()));
  if (const uint64_t rate = link->disk_bytes_per_second; rate > 0) {
    const DiskRates rates = MeasureDisk(rate);
    calibration->figures.push_back({"disk, written", static_cast<double>(rate), rates.written});
    calibration->figures.push_back({"disk, read", static_cast<double>(rate), rates.read});
  }
  fmt::print("link: {}\n", LinkText(*link));
  for (const CalibratedFigure& figure : calibration->figures) {
    const bool time = figure.name == "delay";
    const double unit = time ? 1 : 1e6;
    fmt::print("{:<18} {:8.1f} {}, wanted {:.1f} ({:+.1f} %)\n", figure.name, figure.measured / unit,
               time ? "ms" : "MB/s", figure.wanted / unit, figure.deviation() * 100);
  }
  if (calibration->Within(kMostDeviation)) return 0;
  return Fail(1, "the link misses its figures by more than 5 %; is the machine busy?");
}

}  // namespace

void AddCalibrateVerb(CLI::App& app, int& exit_code) {
  auto link = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("calibrate", "download through a link and say what it does");
  verb->add_option("LINK", *link, "A, B, C, D or DELAY,CONNECTION_RATE,TOTAL_RATE[,...]")->required();
  verb->callback([link, &exit_code] {
    try {
      exit_code = CalibrateVerb(*link);
    } catch (const std::exception& error) {
      exit_code = Fail(1, error.what());
    }
  });
}

}  // namespace soci::bench
