// `soci-snapshotter serve`: the daemon.
#include <malloc.h>
#include <unistd.h>

#include "indexer/base/log.h"
#include "snapshotter/daemon/assembly.h"
#include "snapshotter/daemon/exit_code.h"
#include "snapshotter/daemon/service_notice.h"
#include "snapshotter/daemon/stop_signals.h"
#include "snapshotter/daemon/verbs.h"
#include "snapshotter/daemon/version.h"

namespace soci {
namespace {

// glibc gives each thread an arena of its own, which hoards; the daemon has some dozens of threads, each of which
// allocates little.
constexpr int kArenas = 2;

}  // namespace

int Serve(const ServeOptions& options, StopSignals& signals) {
  auto config = BuildConfig(options.config_file, options.overrides);
  if (!config.ok()) {
    Fail(config.status());
    return absl::IsNotFound(config.status()) ? ExitCodeOf(config.status()) : kExitUsage;
  }
  if (::geteuid() != 0) {
    Fail(absl::PermissionDeniedError("serve: it mounts file systems and has to run as root"));
    return kExitFailed;
  }
  ::mallopt(M_ARENA_MAX, kArenas);
  log::SetLevel(config->log.level);

  auto assembly = Assembly::Build(*config);
  if (!assembly.ok()) return Fail(Annotate(assembly.status(), "serve"));
  if (Status started = (*assembly)->Start(); !started.ok()) return Fail(Annotate(started, "serve"));
  log::Info("soci-snapshotter {} serves {}", kVersion, config->service.socket);
  NotifySupervisor("READY=1");
  signals.Wait();
  NotifySupervisor("STOPPING=1");
  log::Info("stopping");
  assembly->reset();
  return kExitDone;
}

}  // namespace soci
