// The body of the inner loop; see inflate_loop.h. Internal linkage, and nothing from the standard library that is not:
// the linker must never take a copy that was compiled for another machine.
#pragma once

#if defined(__BMI2__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>

#include "indexer/codec/bit_reader.h"
#include "indexer/codec/inflate_loop.h"

namespace soci::deflate {
namespace {

// The lowest bits of a word, as many as the entry's lowest byte says.
[[gnu::always_inline]] inline uint64_t LowBits(uint64_t word, uint64_t entry) {
#if defined(__BMI2__)
  return _bzhi_u64(word, entry);
#else
  return word & ((uint64_t{1} << (entry & 63)) - 1);
#endif
}

// Base and extra bits of a length or a distance. `word` is what it was before the entry was dropped.
[[gnu::always_inline]] inline uint64_t Extra(uint64_t word, uint64_t entry) {
  return LowBits(word, entry) >> (entry >> 8 & 15);
}

[[gnu::always_inline]] inline void Copy8(uint8_t* to, const uint8_t* from) { std::memcpy(to, from, 8); }
[[gnu::always_inline]] inline void Copy16(uint8_t* to, const uint8_t* from) { std::memcpy(to, from, 16); }

// Copies in whole words, past `end` if need be. Most matches are short: the first 32 bytes are copied without a
// question.
[[gnu::always_inline]] inline void CopyMatch(uint8_t* to, uint8_t* end, uint64_t distance) {
  const uint8_t* from = to - distance;
  if (distance >= 16) {
    Copy16(to, from);
    Copy16(to + 16, from + 16);
    while (to + 32 < end) {
      to += 32;
      from += 32;
      Copy16(to, from);
      Copy16(to + 16, from + 16);
    }
  } else if (distance >= 8) {
    do {
      Copy8(to, from);
      to += 8;
      from += 8;
    } while (to < end);
  } else if (distance == 1) {
    const uint64_t run = uint64_t{*from} * 0x0101010101010101;
    do {
      std::memcpy(to, &run, 8);
      std::memcpy(to + 8, &run, 8);
      to += 16;
    } while (to < end);
  } else {
    do {
      Copy8(to, from);
      to += distance;
      from += distance;
    } while (to < end);
  }
}

[[gnu::always_inline]] inline LoopEnd RunLoop(LoopState& state) {
  constexpr uint64_t kLiteralMask = (1 << kLiteralBits) - 1;
  constexpr uint64_t kDistanceMask = (1 << kDistanceBits) - 1;
  const LiteralTable& literals = state.codes->literals;
  const DistanceTable& distances = state.codes->distances;
  const uint8_t* const input_stop = state.input_stop;
  uint8_t* const output_stop = state.output_stop;
  const uint8_t* const oldest = state.oldest;
  uint8_t* out = state.out;
  BitReader bits{state.word, state.left, state.next};
  LoopEnd end = LoopEnd::kStopped;

  bits.Refill();
  uint64_t entry = literals[bits.word & kLiteralMask];
  while (true) {
    // Three literals fit into one refill; after two of them a length and the index of a distance do (22 + 20 + 9 of 56
    // bits). Each lookup goes before the refill that follows: it need not wait for it.
    if (entry & kLiteral) {
      *out++ = static_cast<uint8_t>(entry >> 12);
      bits.Drop(entry);
      entry = literals[bits.word & kLiteralMask];
      if (entry & kLiteral) {
        *out++ = static_cast<uint8_t>(entry >> 12);
        bits.Drop(entry);
        entry = literals[bits.word & kLiteralMask];
        if (entry & kLiteral) {
          *out++ = static_cast<uint8_t>(entry >> 12);
          bits.Drop(entry);
          entry = literals[bits.word & kLiteralMask];
          bits.Refill();
          if (out >= output_stop || bits.next >= input_stop) break;
          continue;
        }
      }
    }
    if (entry & kException) [[unlikely]] {
      if (!(entry & (kEndOfBlock | kInvalid))) {
        bits.Drop(entry);
        entry = literals[(entry >> 16) + (bits.word & ((1u << (entry >> 8 & 15)) - 1))];
      }
      if (entry & kLiteral) {
        *out++ = static_cast<uint8_t>(entry >> 12);
        bits.Drop(entry);
        bits.Refill();
        entry = literals[bits.word & kLiteralMask];
        if (out >= output_stop || bits.next >= input_stop) break;
        continue;
      }
      if (entry & kException) {
        bits.Drop(entry);
        end = (entry & kInvalid) ? LoopEnd::kDamaged : LoopEnd::kBlockEnd;
        break;
      }
    }
    uint64_t before = bits.word;
    bits.Drop(entry);
    const uint64_t length = (entry >> 12) + Extra(before, entry);
    entry = distances[bits.word & kDistanceMask];
    bits.Refill();
    if (entry & kException) [[unlikely]] {
      if (!(entry & kInvalid)) {
        bits.Drop(entry);
        entry = distances[(entry >> 16) + (bits.word & ((1u << (entry >> 8 & 15)) - 1))];
      }
      if (entry & kException) {
        end = LoopEnd::kDamaged;
        break;
      }
    }
    before = bits.word;
    bits.Drop(entry);
    const uint64_t distance = (entry >> 16) + Extra(before, entry);
    if (distance > static_cast<uint64_t>(out - oldest)) [[unlikely]] {
      end = LoopEnd::kDamaged;
      break;
    }
    // Looked up before the copy, whose stores would stand in the way.
    entry = literals[bits.word & kLiteralMask];
    bits.Refill();
    CopyMatch(out, out + length, distance);
    out += length;
    if (out >= output_stop || bits.next >= input_stop) break;
  }
  state.word = bits.word;
  state.left = bits.left;
  state.next = bits.next;
  state.out = out;
  return end;
}

}  // namespace
}  // namespace soci::deflate
