// Where decoding of a layer can start, and what lies between two such places.
//
// A gzip checkpoint is bit-exact; its window is kept beside it, not in it. Spans are computed from checkpoints by one
// rule (docs/formats.md). Values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "indexer/base/ranges.h"

namespace soci {

enum class Compression : uint8_t { kGzip = 1, kUncompressed = 2 };  // the numbers of the zTOC format

inline constexpr size_t kWindowSize = 32768;
using Window = std::array<std::byte, kWindowSize>;  // the bytes before the checkpoint, oldest first, zeros in front
using Windows = std::deque<Window>;  // a deque: a large layer has thousands, and growing must not copy them

struct Checkpoint {
  uint64_t compressed = 0;    // first byte not yet consumed
  uint64_t uncompressed = 0;  // bytes produced before it
  uint8_t bits = 0;           // 0..7 high bits of the byte before `compressed` that are still unused

  bool operator==(const Checkpoint&) const = default;
};

// A span: what is fetched, verified, decoded and kept as one.
struct SpanExtent {
  CompressedRange compressed;  // with the byte it may share with its predecessor
  UncompressedRange uncompressed;
  uint8_t bits = 0;  // of its first byte, if not 0: the number of high bits that belong to it

  bool operator==(const SpanExtent&) const = default;
};

// The spans between checkpoints of a layer with these sizes. `uncompressed_size` is the end of the last span.
std::vector<SpanExtent> SpansOf(const std::vector<Checkpoint>& checkpoints, uint64_t compressed_size,
                                uint64_t uncompressed_size);
// The spans of a plain tar.
std::vector<SpanExtent> PlainSpans(uint64_t span_size, uint64_t size);

}  // namespace soci
