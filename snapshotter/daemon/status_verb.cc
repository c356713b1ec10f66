// `soci-snapshotter status`: asks the daemon and prints its answer.
#include <fmt/format.h>

#include "snapshotter/daemon/exit_code.h"
#include "snapshotter/daemon/status_report.h"
#include "snapshotter/daemon/verbs.h"
#include "snapshotter/telemetry/admin_server.h"

namespace soci {

int StatusVerb(const StatusOptions& options) {
  auto answer = AskAdmin(options.socket, R"({"verb":"status"})");
  if (!answer.ok()) return Fail(Annotate(answer.status(), "status"));
  if (options.json) {
    fmt::print("{}\n", *answer);
    return kExitDone;
  }
  auto text = StatusText(*answer);
  if (!text.ok()) return Fail(Annotate(text.status(), "status"));
  fmt::print("{}", *text);
  return kExitDone;
}

}  // namespace soci
