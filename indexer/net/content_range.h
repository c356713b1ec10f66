// Reads the Content-Range header of a 206: which bytes of the whole the body is. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace soci {

struct ContentRange {
  uint64_t begin = 0;
  uint64_t end = 0;               // exclusive, unlike on the wire
  std::optional<uint64_t> total;  // none for "*"

  bool operator==(const ContentRange&) const = default;
};

// "bytes 0-99/1000" or "bytes 0-99/*"; none for anything else (other units, empty or reversed ranges, ends beyond the
// total).
std::optional<ContentRange> ParseContentRange(std::string_view header);

}  // namespace soci
