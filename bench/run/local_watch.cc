#include "bench/run/local_watch.h"

#include <nlohmann/json.hpp>

#include "snapshotter/telemetry/admin_server.h"
#include "tests/e2e/support/process.h"

namespace soci::bench {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::milliseconds kInterval(100);

bool LayersAreLocal(const Json& image) {
  const auto layers = image.find("layers");
  if (layers == image.end() || !layers->is_array()) return false;
  return std::all_of(layers->begin(), layers->end(), [](const Json& layer) {
    const std::string state = layer.value("state", "");
    return state == "sealed" || state == "deferred";
  });
}

}  // namespace

bool StatusSaysLocal(std::string_view status_json) {
  const Json status = Json::parse(status_json.begin(), status_json.end(), nullptr, false);
  if (!status.is_object() || !status.contains("images") || !status["images"].is_array()) return false;
  const Json& images = status["images"];
  return std::all_of(images.begin(), images.end(), LayersAreLocal);
}

LocalWatch::LocalWatch(const Contestant& contestant, const Host& host, Timeline& timeline)
    : contestant_(contestant), host_(host), timeline_(timeline) {
  if (possible()) thread_ = std::thread([this] { Run(); });
}

LocalWatch::~LocalWatch() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

bool LocalWatch::Ask() const {
  if (contestant_.local == Contestant::Local::kAtPullEnd) return true;
  if (contestant_.local == Contestant::Local::kByCommand) {
    return test::RunCommand(host_.Line(contestant_.local_command)).ok();
  }
  const auto status = AskAdmin(host_.admin_socket(), R"({"verb":"status"})");
  return status.ok() && StatusSaysLocal(*status);
}

void LocalWatch::Run() {
  while (!stopping_ && !Ask()) std::this_thread::sleep_for(kInterval);
  if (stopping_) return;
  if (contestant_.local == Contestant::Local::kAtPullEnd) {
    timeline_.Repeat("snapshotter ready", "fully local");
  } else {
    timeline_.Take("fully local");
  }
  done_ = true;
}

}  // namespace soci::bench
