// `soci-snapshotter record --stop`: the programs that are being recorded are ready.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "snapshotter/daemon/exit_code.h"
#include "snapshotter/daemon/verbs.h"
#include "snapshotter/telemetry/admin_server.h"

namespace soci {

int RecordVerb(const RecordOptions& options) {
  auto answer = AskAdmin(options.socket, R"({"verb":"record-stop"})");
  if (!answer.ok()) return Fail(Annotate(answer.status(), "record"));
  const auto json = nlohmann::json::parse(*answer, nullptr, false);
  if (!json.is_object() || !json.contains("records") || !json["records"].is_number_unsigned()) {
    return Fail(absl::InvalidArgumentError("record: the daemon's answer is none: " + *answer));
  }
  fmt::print("{} recordings ended\n", json["records"].get<uint64_t>());
  return kExitDone;
}

}  // namespace soci
