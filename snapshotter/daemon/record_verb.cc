// `soci-snapshotter record`: runs a command in a container of an image and makes a record of what it reads first; or,
// with --stop, says that the programs that are being recorded are ready.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "indexer/base/file_io.h"
#include "indexer/record/record_codec.h"
#include "indexer/registry/registry_client.h"
#include "snapshotter/config/value_text.h"
#include "snapshotter/daemon/exit_code.h"
#include "snapshotter/daemon/image_pull.h"
#include "snapshotter/daemon/image_to_record.h"
#include "snapshotter/daemon/record_requests.h"
#include "snapshotter/daemon/registry_parts.h"
#include "snapshotter/daemon/stop_signals.h"
#include "snapshotter/daemon/verbs.h"
#include "snapshotter/daemon/watched_program.h"
#include "snapshotter/telemetry/admin_server.h"

namespace soci {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(200);
constexpr auto kPatienceWithKill = std::chrono::seconds(10);

int StopAll(const std::string& socket) {
  auto answer = AskAdmin(socket, R"({"verb":"record-stop"})");
  if (!answer.ok()) return Fail(Annotate(answer.status(), "record"));
  const auto json = nlohmann::json::parse(*answer, nullptr, false);
  if (!json.is_object() || !json.contains("records") || !json["records"].is_number_unsigned()) {
    return Fail(absl::InvalidArgumentError("record: the daemon's answer is none: " + *answer));
  }
  fmt::print("{} recordings ended\n", json["records"].get<uint64_t>());
  return kExitDone;
}

// One recording: the container, and who watches it.
class Recording {
 public:
  Recording(const RecordOptions& options, const StopSignals& signals, const ImageToRecord& image,
            const RecordingClient& client)
      : options_(options), signals_(signals), image_(image), client_(client), id_("soci-record-" + client.name()) {}

  // Runs the container to the end of the recording, and ends it.
  Result<Record> Run() {
    SOCI_ASSIGN_OR_RETURN(auto program, WatchedProgram::Start(Command(), options_.ready_line));
    const Status watched = Watch(*program);
    // Before the program ends, so that what it reads then is not in it.
    Result<Record> record = client_.Take(watched.ok());
    End(*program);
    client_.Release().IgnoreError();  // without the daemon there are no mounts
    SOCI_RETURN_IF_ERROR(watched);
    return record;
  }

 private:
  std::vector<std::string> Ctr(std::vector<std::string> arguments) const {
    std::vector<std::string> line = {options_.ctr, "--address", options_.containerd, "--namespace",
                                     options_.containerd_namespace};
    line.insert(line.end(), arguments.begin(), arguments.end());
    return line;
  }
  std::vector<std::string> Command() const {
    std::vector<std::string> line = {
        "run", "--rm", "--snapshotter", options_.snapshotter, "--snapshotter-label", RecordingLabel(client_.name())};
    line.insert(line.end(), options_.run_flags.begin(), options_.run_flags.end());
    line.insert(line.end(), {image_.name, id_});
    line.insert(line.end(), options_.command.begin(), options_.command.end());
    return Ctr(std::move(line));
  }

  // Ok: the recording is over, or the program has ended well.
  Status Watch(WatchedProgram& program) {
    bool told = false;
    while (true) {
      program.Wait(kLook);
      if (signals_.token().stop_requested()) return absl::CancelledError("stopped; nothing is kept");
      if (program.has_said_it()) return Say("the program said that it is ready");
      const Result<RecordingClient::State> state = client_.Look();
      if (!state.ok()) return state.status();
      if (!state->layers.empty() && !std::exchange(told, true)) TellOfTheRest(state->layers);
      if (state->over) return Say(state->end);
      if (!program.ended()) continue;
      if (program.exit_code() == 0) return Say("the program has ended");
      return absl::AbortedError(
          fmt::format("the command failed with exit code {}; nothing is kept", program.exit_code()));
    }
  }
  static Status Say(std::string_view why) {
    fmt::print(stderr, "recording ended: {}\n", why);
    return OkStatus();
  }
  void TellOfTheRest(const std::vector<std::string>& watched) const {
    for (const oci::Descriptor& layer : image_.manifest.layers) {
      if (std::find(watched.begin(), watched.end(), layer.digest.ToString()) != watched.end()) continue;
      fmt::print(stderr, "layer {} was unpacked by containerd: what is read of it is not recorded\n",
                 layer.digest.ToString());
    }
  }

  // Asks it to end, waits, and makes it.
  void End(WatchedProgram& program) const {
    program.Signal(SIGTERM);
    WaitForEnd(program, std::chrono::seconds(options_.grace_seconds));
    if (!program.ended()) {
      Quietly({"task", "kill", "--signal", "SIGKILL", id_});
      WaitForEnd(program, kPatienceWithKill);
    }
    // ctr removes the container, unless the signal came before it listened and was its own end.
    if (program.ended() && program.exit_code() != 128 + SIGTERM) return;
    program.Signal(SIGKILL);
    Quietly({"task", "rm", "--force", id_});
    Quietly({"container", "rm", id_});
  }
  static void WaitForEnd(WatchedProgram& program, std::chrono::milliseconds patience) {
    const auto give_up = SteadyClock::now() + patience;
    while (!program.ended() && SteadyClock::now() < give_up) program.Wait(kLook);
  }
  void Quietly(std::vector<std::string> arguments) const {
    std::vector<std::string> line = {"sh", "-c", R"("$0" "$@" >/dev/null 2>&1)"};
    for (std::string& argument : Ctr(std::move(arguments))) line.push_back(std::move(argument));
    auto program = WatchedProgram::Start(std::move(line), "");
    if (program.ok()) WaitForEnd(**program, kPatienceWithKill);
  }

  const RecordOptions& options_;
  const StopSignals& signals_;
  const ImageToRecord& image_;
  const RecordingClient& client_;
  const std::string id_;
};

Result<Record> RecordImage(const RecordOptions& options, const oci::Reference& reference, const StopSignals& signals) {
  SOCI_ASSIGN_OR_RETURN(const ImageToRecord image, FindImageToRecord(options, reference, signals.token()));
  RecordingClient::Begin begin;
  begin.image = reference.ToString();
  begin.manifest = image.digest;
  if (options.silence_seconds) begin.quiet = std::chrono::seconds(*options.silence_seconds);
  if (!options.max_size.empty()) {
    SOCI_ASSIGN_OR_RETURN(begin.max_bytes, ParseByteSize(options.max_size));
  }
  SOCI_ASSIGN_OR_RETURN(const RecordingClient client, RecordingClient::Ask(options.socket, begin));
  SOCI_ASSIGN_OR_RETURN(Record record, Recording(options, signals, image, client).Run());
  if (!options.out.empty()) {
    SOCI_ASSIGN_OR_RETURN(const std::string bytes, EncodeRecord(record));
    SOCI_RETURN_IF_ERROR(WriteFileAtomic(options.out, bytes));
  }
  return record;
}

}  // namespace

int RecordVerb(const RecordOptions& options, const StopSignals& signals) {
  if (options.stop) {
    if (options.reference.empty()) return StopAll(options.socket);
    Fail(absl::InvalidArgumentError("record: --stop ends every recording and takes no image"));
    return kExitUsage;
  }
  const auto reference = oci::Reference::Parse(options.reference);
  if (!reference.ok()) {
    Fail(Annotate(reference.status(), "record"));
    return kExitUsage;
  }
  if (!options.max_size.empty() && !ParseByteSize(options.max_size).ok()) {
    Fail(Annotate(ParseByteSize(options.max_size).status(), "record --max-size"));
    return kExitUsage;
  }
  const Result<Record> record = RecordImage(options, *reference, signals);
  if (!record.ok()) return Fail(Annotate(record.status(), "record " + options.reference));
  uint64_t bytes = 0;
  for (const RecordedExtent& extent : record->extents) bytes += extent.size;
  fmt::print(stderr, "recorded {} extents of {} files, {:.1f} MiB\n", record->extents.size(), record->files.size(),
             static_cast<double>(bytes) / (1 << 20));
  if (!options.out.empty()) fmt::print("{}\n", options.out);
  return kExitDone;
}

}  // namespace soci
