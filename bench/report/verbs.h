// What soci-bench does with results that are there already: its verbs report, compare and guard.
#pragma once

namespace CLI {
class App;
}

namespace soci::bench {

// Adds the verbs to `app`. When one of them runs it writes to stdout, or one line to stderr, and sets `exit_code`: 0,
// or 1 for what could not be read or written and for a loss that the guard found. Both outlive the parsing.
void AddReportVerbs(CLI::App& app, int& exit_code);

}  // namespace soci::bench
