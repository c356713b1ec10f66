// The inner loop of inflate: a block's symbols, one after another. Compiled once for any machine and once for those
// with BMI2 (shifts and bit fields in one instruction each). Any thread.
#pragma once

#include <cstdint>

#include "indexer/codec/huffman_table.h"

namespace soci::deflate {

enum class LoopEnd { kStopped, kBlockEnd, kDamaged };

struct LoopState {
  const Codes* codes;
  // The bit reader's.
  uint64_t word;
  uint32_t left;
  const uint8_t* next;
  // The loop stops once either is reached. It reads up to 32 bytes past the one and writes up to kOutputSlack past the
  // other.
  const uint8_t* input_stop;
  uint8_t* output_stop;
  uint8_t* out;
  const uint8_t* oldest;  // the oldest byte of output that may be referred to
};

LoopEnd DecodeSymbols(LoopState& state);
#if defined(__x86_64__)
LoopEnd DecodeSymbolsWithBmi2(LoopState& state);
#endif

}  // namespace soci::deflate
