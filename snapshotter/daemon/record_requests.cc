#include "snapshotter/daemon/record_requests.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "indexer/oci/base64.h"
#include "indexer/record/record_codec.h"
#include "snapshotter/replay/image_records.h"
#include "snapshotter/telemetry/admin_server.h"

namespace soci {
namespace {

using Json = nlohmann::json;

std::string TextOf(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}
uint64_t NumberOf(const Json& json, const char* key, uint64_t otherwise) {
  return json.contains(key) && json[key].is_number_unsigned() ? json[key].get<uint64_t>() : otherwise;
}

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }
Json Error(const Status& status) {
  return {{"error", std::string(Message(status))}, {"code", static_cast<int>(status.code())}};
}

std::string_view InWords(RunEnd end) {
  switch (end) {
    case RunEnd::kQuiet:
      return "the program has read nothing new for a while";
    case RunEnd::kFull:
      return "the program has read as much as a record may hold";
    case RunEnd::kIdle:
      return "the program has read nothing";
    case RunEnd::kTold:
      return "it was ended";
    case RunEnd::kGone:
      return "its container is gone";
  }
  return "";
}

Json Begin(ImageRecords& records, const Json& request, const RecordingLimits& defaults) {
  const auto manifest = oci::Digest::Parse(TextOf(request, "manifest"));
  if (!manifest.ok()) return Error(Annotate(manifest.status(), "manifest"));
  AskedRecording wanted;
  wanted.image = TextOf(request, "image");
  wanted.manifest = *manifest;
  // Longer than a year is for ever; and more would not fit a duration.
  const uint64_t quiet_ms = NumberOf(request, "quiet_ms", static_cast<uint64_t>(defaults.quiet.count()));
  wanted.quiet = std::chrono::milliseconds(std::min<uint64_t>(quiet_ms, uint64_t{365} * 86'400'000));
  wanted.most_bytes = NumberOf(request, "max_bytes", defaults.max_bytes);
  return {{"recording", records.AskRecording(std::move(wanted))}};
}

Json Look(const ImageRecords& records, const std::string& name) {
  static constexpr const char* kStates[] = {"asked", "running", "over"};
  const auto progress = records.ProgressOf(name);
  if (!progress.ok()) return Error(progress.status());
  const bool gone = progress->state == RecordingProgress::State::kOver && progress->end == RunEnd::kGone;
  Json layers = Json::array();
  for (const oci::LayerDigest& layer : progress->layers) layers.push_back(layer.ToString());
  return {{"state", gone ? "gone" : kStates[static_cast<size_t>(progress->state)]},
          {"end", std::string(InWords(progress->end))},
          {"layers", std::move(layers)}};
}

Json Take(ImageRecords& records, const std::string& name, bool keep) {
  const auto record = records.TakeRecording(name, keep);
  if (!record.ok()) return Error(record.status());
  const auto bytes = EncodeRecord(*record);
  if (!bytes.ok()) return Error(bytes.status());
  return {{"record", oci::EncodeBase64(*bytes)}};
}

Result<Json> Ask(const std::string& socket, const Json& request) {
  SOCI_ASSIGN_OR_RETURN(const std::string answer, AskAdmin(socket, Dump(request)));
  Json json = Json::parse(answer, nullptr, false);
  if (!json.is_object()) return absl::InvalidArgumentError("the daemon's answer is none: " + answer);
  if (!json.contains("error")) return json;
  const auto code = static_cast<absl::StatusCode>(NumberOf(json, "code", 2));
  return Status(code, TextOf(json, "error"));
}

}  // namespace

std::optional<std::string> AnswerRecordRequest(ImageRecords& records, std::string_view request,
                                               const RecordingLimits& defaults) {
  const Json json = Json::parse(request.begin(), request.end(), nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const std::string verb = TextOf(json, "verb");
  const std::string name = TextOf(json, "recording");
  if (verb == "record-begin") return Dump(Begin(records, json, defaults));
  if (verb == "record-state") return Dump(Look(records, name));
  if (verb == "record-take") return Dump(Take(records, name, json.contains("keep") && json["keep"] == true));
  return std::nullopt;
}

Result<RecordingClient> RecordingClient::Ask(const std::string& socket, const Begin& begin) {
  Json request = {{"verb", "record-begin"}, {"image", begin.image}, {"manifest", begin.manifest.ToString()}};
  if (begin.quiet) request["quiet_ms"] = static_cast<uint64_t>(begin.quiet->count());
  if (begin.max_bytes) request["max_bytes"] = *begin.max_bytes;
  SOCI_ASSIGN_OR_RETURN(const Json answer, soci::Ask(socket, request));
  std::string name = TextOf(answer, "recording");
  if (name.empty()) return absl::UnimplementedError("the daemon does not know recordings; it is an older one");
  return RecordingClient(socket, std::move(name));
}

Result<RecordingClient::State> RecordingClient::Look() const {
  SOCI_ASSIGN_OR_RETURN(const Json answer, soci::Ask(socket_, {{"verb", "record-state"}, {"recording", name_}}));
  State state;
  state.over = TextOf(answer, "state") == "over";
  state.end = TextOf(answer, "end");
  if (answer.contains("layers") && answer["layers"].is_array()) {
    for (const Json& layer : answer["layers"]) {
      if (layer.is_string()) state.layers.push_back(layer.get<std::string>());
    }
  }
  return state;
}

Result<Record> RecordingClient::Take(bool keep) const {
  const Json request = {{"verb", "record-take"}, {"recording", name_}, {"keep", keep}};
  SOCI_ASSIGN_OR_RETURN(const Json answer, soci::Ask(socket_, request));
  const std::optional<std::string> bytes = oci::DecodeBase64(TextOf(answer, "record"));
  if (!bytes) return absl::InvalidArgumentError("the daemon's answer has no record");
  return DecodeRecord(*bytes);
}

Status RecordingClient::Release() const {
  return soci::Ask(socket_, {{"verb", "record-release"}, {"recording", name_}}).status();
}

}  // namespace soci
