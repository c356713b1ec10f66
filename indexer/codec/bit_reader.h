// The next bits of a DEFLATE stream. Everything here has internal linkage: it is compiled for several kinds of machine.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace soci::deflate {
namespace {

static_assert(std::endian::native == std::endian::little, "bits are loaded as little-endian words");

// `left` counts the bits in `word`, in its lowest six bits only: above them is what entries leave when they are
// subtracted whole. Bits above `left` may be set in `word`; they are those that come next anyway.
struct BitReader {
  uint64_t word;
  uint32_t left;
  const uint8_t* next;  // loads up to 8 bytes from here

  // Then at least 56 bits are there.
  [[gnu::always_inline]] inline void Refill() {
    uint64_t more;
    std::memcpy(&more, next, sizeof more);
    word |= more << (left & 63);
    next += 7;
    next -= left >> 3 & 7;
    left |= 56;
  }
  [[gnu::always_inline]] inline uint64_t Take(unsigned count) {
    const uint64_t value = word & ((uint64_t{1} << count) - 1);
    word >>= count;
    left -= count;
    return value;
  }
  // As many bits as the entry's lowest six bits say.
  [[gnu::always_inline]] inline void Drop(uint64_t entry) {
    word >>= entry & 63;
    left -= static_cast<uint32_t>(entry);
  }
};

}  // namespace
}  // namespace soci::deflate
