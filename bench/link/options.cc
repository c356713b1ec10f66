#include "bench/link/options.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace soci {
namespace {

Result<double> ParseQuantity(std::string_view text, const std::map<std::string, double>& units) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  const auto unit = units.find(end);
  if (end == copy.c_str() || !(number >= 0 && number <= 1e12) || unit == units.end()) {
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" is no number with a unit such as {}", text, units.rbegin()->first));
  }
  return number * unit->second;
}

}  // namespace

Result<std::chrono::milliseconds> ParseDelay(std::string_view text) {
  SOCI_ASSIGN_OR_RETURN(const double ms, ParseQuantity(text, {{"s", 1000}, {"ms", 1}}));
  return std::chrono::milliseconds(static_cast<int64_t>(ms));
}

Result<uint64_t> ParseRate(std::string_view text) {
  if (text == "0") return 0;
  SOCI_ASSIGN_OR_RETURN(const double rate, ParseQuantity(text, {{"B/s", 1},
                                                                {"kB/s", 1e3},
                                                                {"MB/s", 1e6},
                                                                {"GB/s", 1e9},
                                                                {"KiB/s", 1024},
                                                                {"MiB/s", 1 << 20},
                                                                {"GiB/s", 1 << 30}}));
  return static_cast<uint64_t>(rate);
}

namespace {

std::vector<std::string_view> Parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::string_view Profile(std::string_view letter) {
  if (letter == "A") return "30ms,90MB/s,125MB/s";
  if (letter == "B") return "100ms,25MB/s,60MB/s";
  if (letter == "C") return "10ms,90MB/s,400MB/s";
  if (letter == "D") return "30ms,90MB/s,125MB/s,disk=125MB/s";
  return {};
}

Status ParseShare(std::string_view text, double& share) {
  SOCI_ASSIGN_OR_RETURN(share, ParseQuantity(text, {{"", 1}, {"%", 0.01}}));
  if (share > 1) return absl::InvalidArgumentError(fmt::format("link: \"{}\" is more than all", text));
  return OkStatus();
}

Status ParseTime(std::string_view text, std::chrono::milliseconds& time) {
  SOCI_ASSIGN_OR_RETURN(time, ParseDelay(text));
  return OkStatus();
}

Status ParseExtra(std::string_view text, LinkOptions& link) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  if (text == "redirect") {
    link.redirect_blobs = true;
    return OkStatus();
  }
  if (name == "p99") {
    SOCI_RETURN_IF_ERROR(ParseTime(value, link.first_byte_p99));
    if (link.first_byte_p99 < link.delay) return absl::InvalidArgumentError("link: p99 is below the delay");
    return OkStatus();
  }
  if (name == "token") return ParseTime(value, link.token_delay);
  if (name == "stall-for") return ParseTime(value, link.faults.stall_for);
  if (name == "disk") {
    SOCI_ASSIGN_OR_RETURN(link.disk_bytes_per_second, ParseRate(value));
    return OkStatus();
  }
  if (name == "503") return ParseShare(value, link.faults.unavailable);
  if (name == "reset") return ParseShare(value, link.faults.reset);
  if (name == "stall") return ParseShare(value, link.faults.stall);
  if (name == "flip") return ParseShare(value, link.faults.flip);
  if (name == "seed") {
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), link.seed);
    if (parsed.ec == std::errc() && parsed.ptr == value.data() + value.size()) return OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format(
      "link: \"{}\" is none of p99=, token=, stall-for=TIME, 503=, reset=, stall=, flip=SHARE, seed=NUMBER, "
      "disk=RATE, redirect",
      text));
}

}  // namespace

Result<LinkOptions> ParseLink(std::string_view text) {
  std::vector<std::string_view> parts = Parts(text);
  if (const std::string_view profile = Profile(parts[0]); !profile.empty()) {
    const std::vector<std::string_view> its = Parts(profile);
    parts.erase(parts.begin());
    parts.insert(parts.begin(), its.begin(), its.end());
  }
  if (parts.size() < 3) {
    return absl::InvalidArgumentError(
        fmt::format("link: \"{}\" is neither A, B, C, D nor DELAY,CONNECTION_RATE,TOTAL_RATE", text));
  }
  LinkOptions link;
  SOCI_ASSIGN_OR_RETURN(link.delay, ParseDelay(parts[0]));
  SOCI_ASSIGN_OR_RETURN(link.connection_bytes_per_second, ParseRate(parts[1]));
  SOCI_ASSIGN_OR_RETURN(link.total_bytes_per_second, ParseRate(parts[2]));
  for (size_t i = 3; i < parts.size(); ++i) SOCI_RETURN_IF_ERROR(ParseExtra(parts[i], link));
  const FaultOptions& faults = link.faults;
  if (faults.unavailable + faults.reset + faults.stall + faults.flip > 1) {
    return absl::InvalidArgumentError("link: the faults' shares are more than all");
  }
  return link;
}

std::string LinkText(const LinkOptions& link) {
  const auto rate = [](uint64_t bytes, std::string_view whose) {
    return bytes == 0 ? fmt::format("no limit {}", whose)
                      : fmt::format("{:g} MB/s {}", static_cast<double>(bytes) / 1e6, whose);
  };
  std::string text = fmt::format("{} ms", link.delay.count());
  if (link.first_byte_p99 > link.delay) text += fmt::format(" (99 %: {} ms)", link.first_byte_p99.count());
  text += ", " + rate(link.connection_bytes_per_second, "per connection");
  text += ", " + rate(link.total_bytes_per_second, "in all");
  if (link.token_delay.count() > 0) text += fmt::format(", tokens {} ms later", link.token_delay.count());
  if (link.redirect_blobs) text += ", blobs redirected";
  for (const auto& [share, what] : {std::pair(link.faults.unavailable, "503"),
                                    {link.faults.reset, "reset"},
                                    {link.faults.stall, "stalled"},
                                    {link.faults.flip, "with a false bit"}}) {
    if (share > 0) text += fmt::format(", {:g} % {}", share * 100, what);
  }
  if (link.disk_bytes_per_second > 0) text += ", " + rate(link.disk_bytes_per_second, "to and from the disk, each");
  return text;
}

}  // namespace soci
