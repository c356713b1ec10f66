#include "bench/link/request_counter.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace soci {
namespace {

constexpr size_t kMostHeadBytes = 64 << 10;

// "GET /path HTTP/1.1" begins so; anything else is another protocol.
bool MayBeHttp(std::string_view head) {
  constexpr size_t kLongestMethod = 7;
  for (size_t i = 0; i < head.size(); ++i) {
    if (head[i] == ' ') return i > 0;
    if (i == kLongestMethod || head[i] < 'A' || head[i] > 'Z') return false;
  }
  return true;
}

// The value of a header, its name in lower case; empty if there is none.
std::string_view Header(std::string_view head, std::string_view name) {
  for (size_t line = head.find("\r\n"); line != std::string_view::npos; line = head.find("\r\n", line)) {
    line += 2;
    const std::string_view rest = head.substr(line);
    const bool same = rest.size() > name.size() && rest[name.size()] == ':' &&
                      std::equal(name.begin(), name.end(), rest.begin(),
                                 [](unsigned char want, unsigned char is) { return want == std::tolower(is); });
    if (!same) continue;
    std::string_view value = rest.substr(name.size() + 1, rest.find("\r\n") - name.size() - 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    return value;
  }
  return {};
}

}  // namespace

uint64_t RequestCounter::Feed(std::string_view bytes) {
  uint64_t requests = 0;
  while (!bytes.empty() && !deaf_) {
    const uint64_t skipped = std::min<uint64_t>(body_left_, bytes.size());
    body_left_ -= skipped;
    bytes.remove_prefix(skipped);
    if (bytes.empty()) break;
    const size_t before = head_.size();
    head_ += bytes;
    if (!MayBeHttp(head_)) {
      deaf_ = true;
      break;
    }
    if (before == 0) ++requests;
    const size_t end = head_.find("\r\n\r\n");
    if (end == std::string::npos) {
      deaf_ = head_.size() > kMostHeadBytes;
      break;
    }
    head_.resize(end + 2);
    bytes.remove_prefix(end + 4 - before);
    EndHead();
  }
  return requests;
}

void RequestCounter::EndHead() {
  if (!Header(head_, "transfer-encoding").empty()) deaf_ = true;
  const std::string_view length = Header(head_, "content-length");
  if (!length.empty()) {
    const auto parsed = std::from_chars(length.data(), length.data() + length.size(), body_left_);
    if (parsed.ec != std::errc()) deaf_ = true;
  }
  head_.clear();
}

}  // namespace soci
