// `soci-bench run`: options, the scenarios they mean, the runs, and what is printed and written of them.
#pragma once

namespace CLI {
class App;
}

namespace soci::bench {

// `exit_code` is 0 when every run was measured, 1 when one failed, 2 for options that make no sense, 130 after Ctrl-C.
void AddRunVerb(CLI::App& app, int& exit_code);

}  // namespace soci::bench
