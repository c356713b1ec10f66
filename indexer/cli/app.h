// The command line of soci-index: what may be written, its help, and which verb runs.
#pragma once

namespace soci::cli {

// The program's exit code. Wrong usage is one line on standard error and code 2.
int RunApp(int argc, const char* const* argv);

}  // namespace soci::cli
