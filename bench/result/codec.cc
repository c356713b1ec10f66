#include "bench/result/codec.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "indexer/base/file_io.h"

namespace soci::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr uint64_t kMostFileBytes = uint64_t{256} << 20;
constexpr size_t kMostShownChars = 60;

// Which fields a struct has, for reading and writing alike.
template <typename Visitor>
void Visit(Visitor& visit, Traffic& traffic) {
  visit("bytes", traffic.bytes);
  visit("requests", traffic.requests);
  visit("connections", traffic.connections);
}
template <typename Visitor>
void Visit(Visitor& visit, Point& point) {
  visit("name", point.name);
  visit("seconds", point.seconds);
  visit("traffic", point.traffic);
}
template <typename Visitor>
void Visit(Visitor& visit, Resources& resources) {
  visit("daemon_cpu_seconds", resources.daemon_cpu_seconds);
  visit("client_cpu_seconds", resources.client_cpu_seconds);
  visit("peak_anonymous_bytes", resources.peak_anonymous_bytes);
  visit("peak_file_bytes", resources.peak_file_bytes);
  visit("disk_written_bytes", resources.disk_written_bytes);
}
template <typename Visitor>
void Visit(Visitor& visit, ByteSample& sample) {
  visit("seconds", sample.seconds);
  visit("bytes", sample.bytes);
}
template <typename Visitor>
void Visit(Visitor& visit, HostRun& host) {
  visit("points", host.points);
  visit("error", host.error);
}
template <typename Visitor>
void Visit(Visitor& visit, Run& run) {
  visit("mode", run.mode);
  visit("repeat", run.repeat);
  visit("points", run.points);
  visit("resources", run.resources);
  visit("counts", run.counts);
  visit("error", run.error);
  visit("hosts", run.hosts);
  visit("bytes_over_time", run.bytes_over_time);
  visit("read_milliseconds", run.read_milliseconds);
}
template <typename Visitor>
void Visit(Visitor& visit, Scenario& scenario) {
  visit("name", scenario.name);
  visit("image", scenario.image);
  visit("link", scenario.link);
  visit("workload", scenario.workload);
  visit("image_bytes", scenario.image_bytes);
  visit("image_unpacked_bytes", scenario.image_unpacked_bytes);
  visit("plain_download_seconds", scenario.plain_download_seconds);
  visit("note", scenario.note);
  visit("runs", scenario.runs);
}
template <typename Visitor>
void Visit(Visitor& visit, Environment& environment) {
  visit("date", environment.date);
  visit("commit", environment.commit);
  visit("kernel", environment.kernel);
  visit("cpu", environment.cpu);
  visit("containerd", environment.containerd);
  visit("product", environment.product);
  visit("cores", environment.cores);
  visit("memory_bytes", environment.memory_bytes);
  visit("others", environment.others);
}
template <typename Visitor>
void Visit(Visitor& visit, Calibration& calibration) {
  visit("link", calibration.link);
  visit("rate_all", calibration.rate_all);
  visit("rate_one", calibration.rate_one);
  visit("delay_ms", calibration.delay_ms);
}
template <typename Visitor>
void Visit(Visitor& visit, Result& result) {
  visit("environment", result.environment);
  visit("calibrations", result.calibrations);
  visit("scenarios", result.scenarios);
}

class Writer {
 public:
  template <typename T>
  void operator()(const char* name, T& field) {
    object_[name] = Value(field);
  }
  template <typename T>
  static Json Object(T& value) {
    Writer writer;
    Visit(writer, value);
    return std::move(writer.object_);
  }

 private:
  static Json Value(std::string& text) { return text; }
  static Json Value(uint64_t number) { return number; }
  static Json Value(int number) { return number; }
  static Json Value(double number) { return number; }  // nlohmann dumps what is not finite as null
  static Json Value(std::map<std::string, double>& numbers) { return Json(numbers); }
  static Json Value(std::map<std::string, std::string>& texts) { return Json(texts); }
  template <typename T>
  static Json Value(std::vector<T>& list) {
    Json array = Json::array();
    for (T& item : list) array.push_back(Value(item));
    return array;
  }
  template <typename T>
  static Json Value(T& value) {
    return Object(value);
  }

  Json object_ = Json::object();
};

// What a stranger wrote, in one line of bounded length.
std::string Shown(const std::string& text) {
  std::string shown = Json(text.substr(0, kMostShownChars)).dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > kMostShownChars ? shown + "..." : shown;
}

class Reader {
 public:
  template <typename T>
  void operator()(const char* name, T& field) {
    known_.insert(name);
    const auto found = object_.find(name);
    if (found != object_.end() && status_.ok()) status_ = Read(*found, fmt::format("{}.{}", place_, name), field);
  }
  template <typename T>
  static Status ReadObject(const Json& json, const std::string& place, T& value, std::set<std::string> known = {}) {
    if (!json.is_object()) return Wrong(place, "an object");
    Reader reader(json, place, std::move(known));
    Visit(reader, value);
    if (!reader.status_.ok()) return reader.status_;
    for (const auto& [key, unused] : json.items()) {
      if (reader.known_.count(key) == 0) {
        return absl::InvalidArgumentError(fmt::format("{}: unknown key {}", place, Shown(key)));
      }
    }
    return OkStatus();
  }

 private:
  Reader(const Json& object, std::string place, std::set<std::string> known)
      : object_(object), place_(std::move(place)), known_(std::move(known)) {}

  static Status Wrong(const std::string& place, std::string_view wanted) {
    return absl::InvalidArgumentError(fmt::format("{} is not {}", place, wanted));
  }
  static Status Read(const Json& json, const std::string& place, std::string& text) {
    if (!json.is_string()) return Wrong(place, "a text");
    text = json.get<std::string>();
    return OkStatus();
  }
  static Status Read(const Json& json, const std::string& place, uint64_t& number) {
    if (!json.is_number_unsigned()) return Wrong(place, "a whole number from 0");
    number = json.get<uint64_t>();
    return OkStatus();
  }
  static Status Read(const Json& json, const std::string& place, int& number) {
    uint64_t wide = 0;
    SOCI_RETURN_IF_ERROR(Read(json, place, wide));
    if (wide > std::numeric_limits<int>::max()) return Wrong(place, "a number of a sensible size");
    number = static_cast<int>(wide);
    return OkStatus();
  }
  static Status Read(const Json& json, const std::string& place, double& number) {
    if (!json.is_number() && !json.is_null()) return Wrong(place, "a number");
    number = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
    return OkStatus();
  }
  static Status Read(const Json& json, const std::string& place, std::map<std::string, double>& numbers) {
    if (!json.is_object()) return Wrong(place, "an object");
    for (const auto& [key, value] : json.items()) {
      SOCI_RETURN_IF_ERROR(Read(value, fmt::format("{}[{}]", place, Shown(key)), numbers[key]));
    }
    return OkStatus();
  }
  static Status Read(const Json& json, const std::string& place, std::map<std::string, std::string>& texts) {
    if (!json.is_object()) return Wrong(place, "an object");
    for (const auto& [key, value] : json.items()) {
      SOCI_RETURN_IF_ERROR(Read(value, fmt::format("{}[{}]", place, Shown(key)), texts[key]));
    }
    return OkStatus();
  }
  template <typename T>
  static Status Read(const Json& json, const std::string& place, std::vector<T>& list) {
    if (!json.is_array()) return Wrong(place, "a list");
    for (const Json& item : json) {
      const std::string item_place = fmt::format("{}[{}]", place, list.size());
      SOCI_RETURN_IF_ERROR(Read(item, item_place, list.emplace_back()));
    }
    return OkStatus();
  }
  template <typename T>
  static Status Read(const Json& json, const std::string& place, T& value) {
    return ReadObject(json, place, value);
  }

  const Json& object_;
  const std::string place_;
  std::set<std::string> known_;
  Status status_;
};

// Not nlohmann's own words: they may hold the input's bytes.
soci::Result<Json> Parse(std::string_view text) {
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    return absl::InvalidArgumentError(fmt::format("not JSON at byte {}", error.byte));
  } catch (const Json::exception&) {  // a number that no type holds
    return absl::InvalidArgumentError("not JSON that can be read");
  }
}

}  // namespace

std::string ToJson(const Result& result) {
  Json json = Json::object();
  json["format"] = kFormat;
  Result copy = result;
  json.update(Writer::Object(copy));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

soci::Result<Result> FromJson(std::string_view text) {
  SOCI_ASSIGN_OR_RETURN(const Json json, Parse(text));
  if (!json.is_object() || !json.contains("format")) {
    return absl::InvalidArgumentError("not a benchmark's result: no \"format\" in it");
  }
  if (json["format"] != kFormat) {
    return absl::InvalidArgumentError(fmt::format("a result of another format than {}", kFormat));
  }
  Result result;
  SOCI_RETURN_IF_ERROR(Reader::ReadObject(json, "result", result, {"format"}));
  return result;
}

Status WriteResult(const Result& result, const std::string& path) { return WriteFileAtomic(path, ToJson(result)); }

soci::Result<Result> ReadResult(const std::string& path) {
  SOCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostFileBytes));
  auto result = FromJson(text);
  if (!result.ok()) return Annotate(result.status(), path);
  return result;
}

}  // namespace soci::bench
