#include "indexer/codec/huffman_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace soci::deflate {
namespace {

constexpr std::array<uint16_t, 29> kLengthBase{3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                               31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<uint8_t, 29> kLengthExtra{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                               2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<uint16_t, 30> kDistanceBase{1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                 33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr int kEndSymbol = 256;

// Entries without their code's length, which is added once it is known.
constexpr std::array<Entry, kLiteralSymbols> kLiteralEntries = [] {
  std::array<Entry, kLiteralSymbols> entries{};
  for (Entry symbol = 0; symbol < 256; ++symbol) entries[symbol] = kLiteral | symbol << 12;
  entries[kEndSymbol] = kException | kEndOfBlock;
  for (size_t i = 0; i < kLengthBase.size(); ++i) entries[257 + i] = Entry{kLengthBase[i]} << 12 | kLengthExtra[i];
  entries[286] = entries[287] = kException | kInvalid;
  return entries;
}();
constexpr std::array<Entry, kDistanceSymbols> kDistanceEntries = [] {
  std::array<Entry, kDistanceSymbols> entries{};
  for (size_t i = 0; i < kDistanceBase.size(); ++i) {
    entries[i] = Entry{kDistanceBase[i]} << 16 | static_cast<Entry>(i < 2 ? 0 : i / 2 - 1);
  }
  entries[30] = entries[31] = kException | kInvalid;
  return entries;
}();
constexpr std::array<Entry, kPrecodeSymbols> kPrecodeEntries = [] {
  std::array<Entry, kPrecodeSymbols> entries{};
  for (Entry symbol = 0; symbol < kPrecodeSymbols; ++symbol) entries[symbol] = symbol << 16;
  return entries;
}();

// The code's symbols, shortest code first, as canonical codes are given out.
struct Code {
  std::array<uint16_t, kMaxCodeLength + 1> count{};
  std::array<uint16_t, kLiteralSymbols> symbols;
  int longest = 0;
  int used = 0;
};

// False unless the code is complete, or what zlib lets pass for one.
bool Sort(std::span<const uint8_t> lengths, bool may_be_single, bool may_be_empty, Code& code) {
  for (uint8_t length : lengths) ++code.count[length];
  code.used = static_cast<int>(lengths.size()) - code.count[0];
  code.count[0] = 0;
  std::array<uint16_t, kMaxCodeLength + 2> next{};
  int32_t left = 1;
  for (int length = 1; length <= kMaxCodeLength; ++length) {
    left = left * 2 - code.count[length];
    if (left < 0) return false;
    next[length + 1] = next[length] + code.count[length];
    if (code.count[length] != 0) code.longest = length;
  }
  for (size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    if (lengths[symbol] != 0) code.symbols[next[lengths[symbol]]++] = static_cast<uint16_t>(symbol);
  }
  if (left == 0) return true;
  return code.used == 0 ? may_be_empty : may_be_single && code.longest == 1;
}

// The code after `code` among those of `length` bits, both with their first bit lowest.
uint32_t NextCode(uint32_t code, int length) {
  const uint32_t zeros = ~code & ((1u << length) - 1);
  if (zeros == 0) return 0;
  const uint32_t highest = std::bit_floor(zeros);
  return (code & (highest - 1)) | highest;
}

// Bits in all, and for all but exceptions the bits of the code alone.
Entry WithLength(Entry entry, int length) {
  return entry + static_cast<Entry>(length) * ((entry & kException) != 0 ? 1 : 0x101);
}

void Fill(const Code& code, std::span<const Entry> base, int bits, std::span<Entry> table) {
  const size_t size = size_t{1} << bits;
  if (code.longest <= 1 && code.used <= 1) {  // incomplete: half of the table, or all of it, means nothing
    std::fill_n(table.begin(), size, kException | kInvalid | 1);
  }
  uint32_t next = 0;
  size_t filled = 1;
  const uint16_t* symbol = code.symbols.data();
  int length = 1;
  // A table for codes of up to n bits is one for up to n - 1 bits, twice; then the codes of n bits are put in.
  for (; length <= std::min(bits, code.longest); ++length) {
    if (code.used > 1 || length > 1) {
      std::memcpy(table.data() + filled, table.data(), filled * sizeof(Entry));
    }
    filled *= 2;
    for (int i = 0; i < code.count[length]; ++i, next = NextCode(next, length)) {
      table[next] = WithLength(base[*symbol++], length);
    }
  }
  for (; filled < size; filled *= 2) std::memcpy(table.data() + filled, table.data(), filled * sizeof(Entry));

  // Longer codes share subtables by their first bits. All subtables are of one size, for the longest code.
  const int sub_bits = code.longest - bits;
  size_t begin = size;
  uint32_t prefix = ~0u;
  for (; length <= code.longest; ++length) {
    for (int i = 0; i < code.count[length]; ++i, next = NextCode(next, length)) {
      const uint32_t low = next & static_cast<uint32_t>(size - 1);
      if (low != prefix) {
        if (prefix != ~0u) begin += size_t{1} << sub_bits;
        prefix = low;
        table[low] =
            kException | static_cast<Entry>(begin) << 16 | static_cast<Entry>(sub_bits) << 8 | static_cast<Entry>(bits);
      }
      const Entry entry = WithLength(base[*symbol++], length - bits);
      for (size_t at = next >> bits; at < size_t{1} << sub_bits; at += size_t{1} << (length - bits))
        table[begin + at] = entry;
    }
  }
}

}  // namespace

bool BuildLiteralTable(std::span<const uint8_t> lengths, LiteralTable& table) {
  Code code;
  if (lengths[kEndSymbol] == 0 || !Sort(lengths, true, false, code)) return false;
  Fill(code, kLiteralEntries, kLiteralBits, table);
  return true;
}

bool BuildDistanceTable(std::span<const uint8_t> lengths, DistanceTable& table) {
  Code code;
  if (!Sort(lengths, true, true, code)) return false;
  Fill(code, kDistanceEntries, kDistanceBits, table);
  return true;
}

bool BuildPrecodeTable(std::span<const uint8_t> lengths, PrecodeTable& table) {
  Code code;
  if (!Sort(lengths, false, false, code)) return false;
  Fill(code, kPrecodeEntries, kPrecodeBits, table);
  return true;
}

}  // namespace soci::deflate
