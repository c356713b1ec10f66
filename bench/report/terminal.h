// A whole result as text for a terminal: what it was measured on, then each scenario's tables and failures. Pure.
#pragma once

#include <string>
#include <vector>

#include "bench/result/result.h"

namespace soci::bench {

std::string TerminalReport(const Result& result);
// One scenario alone, as a program prints it while others still run.
std::string TerminalReport(const Scenario& scenario);

// What it was measured with and on, a line each: commit, machine, snapshotters of others.
std::vector<std::string> EnvironmentLines(const Environment& environment);
// "2 cores, some cpu, 8.6 GB, kernel 6.1, containerd 1.6.20": for any report's head.
std::string MachineText(const Environment& environment);
std::string CalibrationText(const Calibration& calibration);

}  // namespace soci::bench
