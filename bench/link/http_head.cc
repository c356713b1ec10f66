#include "bench/link/http_head.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace soci {
namespace {

constexpr size_t kMostHeadBytes = 64 << 10;

}  // namespace

bool MayBeHttp(std::string_view head) {
  constexpr size_t kLongestMethod = 7;
  for (size_t i = 0; i < head.size(); ++i) {
    if (head[i] == ' ') return i > 0;
    if (i == kLongestMethod || head[i] < 'A' || head[i] > 'Z') return false;
  }
  return true;
}

std::string_view HttpHeader(std::string_view head, std::string_view name) {
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

bool RequestLine::IsBlobDownload() const {
  return method == "GET" && IsForApi() && path.find("/blobs/sha256:") != std::string_view::npos;
}

RequestLine ParseRequestLine(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const size_t first = line.find(' ');
  const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) return {};
  return {line.substr(0, first), line.substr(first + 1, second - first - 1)};
}

std::vector<RequestSplitter::Piece> RequestSplitter::Feed(std::string_view bytes) {
  std::vector<Piece> pieces;
  const auto pass_on = [&](std::string_view part) {
    if (!part.empty()) pieces.push_back({false, std::string(part)});
  };
  while (!bytes.empty()) {
    if (deaf_) {
      pass_on(bytes);
      break;
    }
    const size_t body = static_cast<size_t>(std::min<uint64_t>(body_left_, bytes.size()));
    pass_on(bytes.substr(0, body));
    body_left_ -= body;
    bytes.remove_prefix(body);
    const size_t before = head_.size();
    head_ += bytes;
    const size_t end = head_.find("\r\n\r\n");
    if (!MayBeHttp(head_) || (end == std::string::npos && head_.size() > kMostHeadBytes)) {
      deaf_ = true;
      pass_on(std::exchange(head_, {}));
      break;
    }
    if (end == std::string::npos) break;
    bytes.remove_prefix(end + 4 - before);
    head_.resize(end + 4);
    const std::string_view length = HttpHeader(head_, "content-length");
    const auto parsed = std::from_chars(length.data(), length.data() + length.size(), body_left_);
    deaf_ = !HttpHeader(head_, "transfer-encoding").empty() || (!length.empty() && parsed.ec != std::errc());
    pieces.push_back({true, std::exchange(head_, {})});
  }
  return pieces;
}

}  // namespace soci
