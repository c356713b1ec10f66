// What a workload's output tells a benchmark. Pure.
//
// Lines that a workload of ours prints for it: "reads_ms NUMBER NUMBER ..." are latencies of reads; "count NAME NUMBER"
// is a count by that name ("count failed_reads 3").
#pragma once

#include <string>
#include <string_view>

#include "bench/result/result.h"

namespace soci::bench {

// Adds them to the run; anything else is passed over.
void ReadWorkloadOutput(std::string_view output, Run& run);

// Whether a whole line, ended by a newline, contains the text.
bool HasLineWith(std::string_view output, std::string_view text);

}  // namespace soci::bench
