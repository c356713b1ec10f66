// soci-bench: measures pull times so that they can be believed.
#include <CLI/CLI.hpp>

#include "bench/cli/calibrate_verb.h"
#include "bench/cli/image_verb.h"
#include "bench/cli/run_verb.h"
#include "bench/report/verbs.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Measures how soon containers start and are ready while their image is pulled.\n\n"
      "  soci-bench run --layers FOLDER --mode containerd,lazy --link A --work 'python3 /app/work.py' --json a.json");
  app.require_subcommand(1);
  int exit_code = 0;
  soci::bench::AddRunVerb(app, exit_code);
  soci::bench::AddImageVerbs(app, exit_code);
  soci::bench::AddReportVerbs(app, exit_code);
  soci::bench::AddCalibrateVerb(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exit_code;
}
