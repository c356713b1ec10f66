// `soci-bench calibrate LINK`: plain downloads through a link, and through a limited disk if the link names one, set
// beside what they should do.
#pragma once

namespace CLI {
class App;
}

namespace soci::bench {

// `exit_code` is 1 if a figure is off by more than 5 %, 2 for what is no link.
void AddCalibrateVerb(CLI::App& app, int& exit_code);

}  // namespace soci::bench
