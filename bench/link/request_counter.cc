#include "bench/link/request_counter.h"

#include <algorithm>
#include <charconv>

#include "bench/link/http_head.h"

namespace soci {
namespace {

constexpr size_t kMostHeadBytes = 64 << 10;

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
  if (!HttpHeader(head_, "transfer-encoding").empty()) deaf_ = true;
  const std::string_view length = HttpHeader(head_, "content-length");
  if (!length.empty()) {
    const auto parsed = std::from_chars(length.data(), length.data() + length.size(), body_left_);
    if (parsed.ec != std::errc()) deaf_ = true;
  }
  head_.clear();
}

}  // namespace soci
