#include "indexer/codec/inflate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "indexer/codec/bit_reader.h"
#include "indexer/codec/inflate_loop.h"

namespace soci::deflate {
namespace {

// The order in which a block's header tells the lengths of the code for code lengths.
constexpr std::array<uint8_t, kPrecodeSymbols> kPrecodeOrder{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                             11, 4,  12, 3, 13, 2, 14, 1, 15};
constexpr size_t kMaxLiterals = 286;
constexpr size_t kMaxDistances = 30;
constexpr size_t kLongestRun = 138;
constexpr ptrdiff_t kLoopReach = 32;  // what the loop reads past its stop
// How far past the last input's end decoding may go before it notices: zeros are there, and GiveBack tells truncation.
constexpr ptrdiff_t kReach = 16;
static_assert(kReach + kLoopReach <= kInputSlack);

const Codes& FixedCodes() {
  static const Codes codes = [] {
    Codes made;
    std::array<uint8_t, kLiteralSymbols> lengths;
    for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    BuildLiteralTable(lengths, made.literals);
    std::array<uint8_t, kDistanceSymbols> distance_lengths;
    distance_lengths.fill(5);
    BuildDistanceTable(distance_lengths, made.distances);
    return made;
  }();
  return codes;
}

// Reads a dynamic block's two codes. False if they are none, or if the input has ended first.
bool ReadCodes(BitReader& bits, const uint8_t* end, Codes& codes) {
  const size_t literal_count = bits.Take(5) + 257;
  const size_t distance_count = bits.Take(5) + 1;
  const size_t precode_count = bits.Take(4) + 4;
  if (literal_count > kMaxLiterals || distance_count > kMaxDistances) return false;

  std::array<uint8_t, kPrecodeSymbols> precode_lengths{};
  for (size_t i = 0; i < precode_count; ++i) {
    if (i % 16 == 0) bits.Refill();
    precode_lengths[kPrecodeOrder[i]] = static_cast<uint8_t>(bits.Take(3));
  }
  PrecodeTable precode;
  if (!BuildPrecodeTable(precode_lengths, precode)) return false;

  // Runs may go from the literals' lengths on into the distances' and, in a damaged block, past their end.
  std::array<uint8_t, kMaxLiterals + kMaxDistances + kLongestRun> lengths;
  const size_t count = literal_count + distance_count;
  for (size_t i = 0; i < count;) {
    if (bits.next >= end + kReach) return false;  // GiveBack will see that it was cut short
    bits.Refill();
    const Entry entry = precode[bits.word & ((1 << kPrecodeBits) - 1)];
    bits.Drop(entry);
    const unsigned symbol = entry >> 16 & 0xff;
    if (symbol < 16) {
      lengths[i++] = static_cast<uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && i == 0) return false;
    const uint8_t value = symbol == 16 ? lengths[i - 1] : 0;
    const size_t run = symbol == 16 ? 3 + bits.Take(2) : symbol == 17 ? 3 + bits.Take(3) : 11 + bits.Take(7);
    std::memset(&lengths[i], value, run);
    i += run;
    if (i > count) return false;
  }
  const std::span<const uint8_t> all(lengths);
  return BuildLiteralTable(all.first(literal_count), codes.literals) &&
         BuildDistanceTable(all.subspan(literal_count, distance_count), codes.distances);
}

using Loop = LoopEnd (*)(LoopState&);

Loop BestLoop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("bmi2")) return DecodeSymbolsWithBmi2;
#endif
  return DecodeSymbols;
}

}  // namespace

void Inflater::Begin(unsigned bits, unsigned bit_count) {
  phase_ = Phase::kHeader;
  at_block_ = false;
  final_block_ = false;
  bits_ = bits;
  bit_count_ = bit_count;
}

Inflater::Stop Inflater::Step(Input& input, Output& output) {
  while (true) {
    Stop stop = Stop::kBlock;  // stands for: go on
    switch (phase_) {
      case Phase::kHeader:
        if (!at_block_) {
          at_block_ = true;
          return Stop::kBlock;
        }
        if (output.next >= output.target) return Stop::kOutput;
        stop = ReadHeader(input);
        break;
      case Phase::kStored:
        stop = ReadStored(input, output);
        break;
      case Phase::kCodes:
        stop = ReadSymbols(input, output);
        break;
      case Phase::kEnd:
        return Stop::kEnd;
    }
    if (stop != Stop::kBlock) return stop;
  }
}

bool Inflater::GiveBack(uint64_t word, uint32_t left, const uint8_t* next, Input& input) {
  next -= left >> 3 & 7;
  bit_count_ = static_cast<unsigned>(left & 7);
  bits_ = static_cast<unsigned>(word) & ((1u << bit_count_) - 1);
  input.next = std::min(next, input.end);
  return next <= input.end;
}

void Inflater::EndBlock() {
  phase_ = final_block_ ? Phase::kEnd : Phase::kHeader;
  at_block_ = false;
}

Inflater::Stop Inflater::ReadHeader(Input& input) {
  if (!input.last && static_cast<size_t>(input.end - input.next) < kMinInput) return Stop::kInput;
  BitReader bits{bits_, bit_count_, input.next};
  bits.Refill();
  final_block_ = bits.Take(1) != 0;
  const uint64_t type = bits.Take(2);
  bool right = true;
  phase_ = Phase::kCodes;
  if (type == 0) {
    bits.Take(bits.left & 7);  // up to the byte boundary
    bits.Refill();
    stored_left_ = static_cast<uint32_t>(bits.Take(16));
    right = (stored_left_ ^ 0xffff) == bits.Take(16);
    phase_ = Phase::kStored;
  } else if (type == 1) {
    codes_ = &FixedCodes();
  } else {
    codes_ = &own_codes_;
    right = type == 2 && ReadCodes(bits, input.end, own_codes_);
  }
  const bool inside = GiveBack(bits.word, bits.left, bits.next, input);
  return !inside ? Stop::kTruncated : right ? Stop::kBlock : Stop::kDamaged;
}

Inflater::Stop Inflater::ReadStored(Input& input, Output& output) {
  const size_t room = output.next < output.target ? static_cast<size_t>(output.target - output.next) : 0;
  const size_t count = std::min({size_t{stored_left_}, static_cast<size_t>(input.end - input.next), room});
  if (count > 0) std::memcpy(output.next, input.next, count);
  output.next += count;
  input.next += count;
  stored_left_ -= static_cast<uint32_t>(count);
  if (stored_left_ == 0) {
    EndBlock();
    return Stop::kBlock;
  }
  if (count == room) return Stop::kOutput;
  return input.last ? Stop::kTruncated : Stop::kInput;
}

Inflater::Stop Inflater::ReadSymbols(Input& input, Output& output) {
  static const Loop loop = BestLoop();
  if (output.next >= output.target) return Stop::kOutput;
  if (!input.last && input.end - input.next <= kLoopReach) return Stop::kInput;
  // At the end of the last input the loop may use zeros that are not there; GiveBack sees it.
  const uint8_t* const input_stop = input.last ? input.end + kReach : input.end - kLoopReach;
  LoopState state{.codes = codes_,
                  .word = bits_,
                  .left = bit_count_,
                  .next = input.next,
                  .input_stop = input_stop,
                  .output_stop = output.target,
                  .out = output.next,
                  .oldest = output.oldest};
  const LoopEnd end = loop(state);
  output.next = state.out;
  if (!GiveBack(state.word, state.left, state.next, input)) return Stop::kTruncated;
  if (end == LoopEnd::kDamaged) return Stop::kDamaged;
  if (end == LoopEnd::kBlockEnd) {
    EndBlock();
    return Stop::kBlock;
  }
  return output.next >= output.target ? Stop::kOutput : Stop::kInput;
}

}  // namespace soci::deflate
