// Half-open ranges on the two number lines of a layer, as types that do not mix, and the number of a span.
//
// CompressedRange counts bytes of the layer as stored; UncompressedRange counts bytes of its tar. Values; no thread
// rules.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

namespace soci {

template <typename Line>
struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;  // exclusive

  constexpr uint64_t size() const { return end > begin ? end - begin : 0; }
  constexpr bool empty() const { return end <= begin; }
  constexpr bool Contains(uint64_t position) const { return position >= begin && position < end; }
  constexpr bool Contains(const Range& other) const { return other.begin >= begin && other.end <= end; }
  constexpr bool Overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
  constexpr Range Intersect(const Range& other) const {
    Range both{std::max(begin, other.begin), std::min(end, other.end)};
    return both.end < both.begin ? Range{both.begin, both.begin} : both;
  }
  constexpr auto operator<=>(const Range&) const = default;
};

using CompressedRange = Range<struct CompressedLine>;
using UncompressedRange = Range<struct UncompressedLine>;

// The number of a span within its layer, from 0.
enum class SpanId : uint32_t {};

constexpr uint32_t ToIndex(SpanId span) { return static_cast<uint32_t>(span); }
constexpr SpanId Next(SpanId span) { return static_cast<SpanId>(ToIndex(span) + 1); }

}  // namespace soci
