// The tables of a scenario, for the terminal and the page alike. Pure.
#pragma once

#include "bench/report/table.h"
#include "bench/report/view.h"

namespace soci::bench {

// Points by modes: median (min-max).
Table TimeTable(const ScenarioView& view);
// The same of each host by itself, all hosts of all runs together; empty where hosts did not begin together.
Table HostTable(const ScenarioView& view);
// How long until all is local takes, beside a plain download of the same bytes; empty where that was not measured.
Table DownloadTable(const ScenarioView& view);
// Points by pairs of ours and another.
Table RatioTable(const ScenarioView& view);
// Points by modes: bytes, requests and connections at the registry by then.
Table TrafficTable(const ScenarioView& view);
// Resources and counts by modes. What is 0 everywhere was not measured and is left out, but for what the work counts.
Table FigureTable(const ScenarioView& view);
// Percentiles of the reads' latencies by modes; empty without reads.
Table ReadTable(const ScenarioView& view);

}  // namespace soci::bench
