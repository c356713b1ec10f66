// Our own inflate: as fast as the fastest library, and it stops at the start of every DEFLATE block, knowing the exact
// bit. That is what a checkpoint is, and what no fast library tells.
//
// Works in steps on memory that the caller owns; between steps it keeps at most seven bits of input. Bytes past the end
// of input are never used, though up to kInputSlack of them may be read. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "indexer/base/bytes.h"
#include "indexer/codec/huffman_table.h"

namespace soci::deflate {

// Bytes behind the last input that must be there to be read. They must be zero.
inline constexpr size_t kInputSlack = 64;
// Unless it is the last, input must have this many bytes left for a step to get anywhere (a block's header fits in it).
inline constexpr size_t kMinInput = 1024;
// Bytes behind the output's target that may be written to.
inline constexpr size_t kOutputSlack = 320;

struct Input {
  const uint8_t* next = nullptr;
  const uint8_t* end = nullptr;
  bool last = false;  // nothing comes after `end` but kInputSlack zero bytes
};

struct Output {
  uint8_t* next = nullptr;
  // A step ends once `next` has reached it; up to kOutputSlack bytes more may have been decoded (see `next`) or spoilt.
  uint8_t* target = nullptr;
  // The oldest byte that may be referred to. Everything from it up to `next` is earlier output or the window.
  const uint8_t* oldest = nullptr;
};

class Inflater {
 public:
  enum class Stop {
    kBlock,      // a block's header is next; also at the very start
    kInput,      // more input is needed
    kOutput,     // the target is reached
    kEnd,        // the last block has ended; `input.next` is the first byte after it
    kTruncated,  // the last input ended within a block
    kDamaged,
  };

  // Begins a stream, at a byte boundary.
  void Begin() { Begin(0, 0); }
  // Begins in the middle: `bit_count` bits (at most 7) come before the next byte.
  void Begin(unsigned bits, unsigned bit_count);

  // Bits of the byte before `input.next` that are not used yet.
  unsigned unused_bits() const { return bit_count_; }

  // Goes on from the last stop.
  Stop Step(Input& input, Output& output);

 private:
  enum class Phase { kHeader, kStored, kCodes, kEnd };

  Stop ReadHeader(Input& input);
  Stop ReadStored(Input& input, Output& output);
  Stop ReadSymbols(Input& input, Output& output);
  void EndBlock();
  // Keeps the bits of `word` that are not used, less the whole bytes, which are given back. False if more was used than
  // the input has.
  bool GiveBack(uint64_t word, uint32_t left, const uint8_t* next, Input& input);

  Phase phase_ = Phase::kHeader;
  bool at_block_ = false;  // the stop before a header was given
  bool final_block_ = false;
  unsigned bits_ = 0;
  unsigned bit_count_ = 0;
  uint32_t stored_left_ = 0;
  const Codes* codes_ = nullptr;  // own_codes_, or the fixed ones
  Codes own_codes_;
};

}  // namespace soci::deflate
