// Decode tables for DEFLATE's Huffman codes.
//
// A table is looked up with the next bits of the stream, first bit lowest; its entry tells what they mean and how many
// they are. Codes longer than the table's index lead to a subtable. (Entries for two literals at a time were slower:
// the output's position then hangs on what was looked up; see bench/results.) One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace soci::deflate {

inline constexpr int kMaxCodeLength = 15;
inline constexpr int kLiteralBits = 11;
inline constexpr int kDistanceBits = 9;
inline constexpr int kPrecodeBits = 7;
inline constexpr size_t kLiteralSymbols = 288;
inline constexpr size_t kDistanceSymbols = 32;
inline constexpr size_t kPrecodeSymbols = 19;

// An entry. Its lowest six bits are how many bits of the stream it stands for, extra bits included; so an entry can be
// used as a shift count as it is. The rest depends on the kind:
//   literal   kLiteral; bits 12-19 the byte
//   length    bits 8-11 code length without extra bits; bits 12-20 base
//   distance  bits 8-11 code length without extra bits; bits 16-31 base
//   precode   bits 16-23 the symbol
//   subtable  kException; bits 8-11 index bits; bits 16-30 where it begins
//   end       kException, kEndOfBlock
//   no code   kException, kInvalid
using Entry = uint32_t;
inline constexpr Entry kLiteral = 1u << 31;  // in literal tables only
inline constexpr Entry kException = 1u << 6;
inline constexpr Entry kEndOfBlock = 1u << 7;
inline constexpr Entry kInvalid = 1u << 12;

constexpr size_t TableSize(int index_bits, size_t symbols) {
  return (size_t{1} << index_bits) + symbols * (size_t{1} << (kMaxCodeLength - index_bits));
}
using LiteralTable = std::array<Entry, TableSize(kLiteralBits, kLiteralSymbols)>;
using DistanceTable = std::array<Entry, TableSize(kDistanceBits, kDistanceSymbols)>;
using PrecodeTable = std::array<Entry, 1 << kPrecodeBits>;

// A block's two codes, side by side: the inner loop reaches both from one register.
struct Codes {
  LiteralTable literals;
  DistanceTable distances;
};

// False if the lengths are no code that zlib would take: more codes than fit, or fewer, but for a single code of one
// bit (and, for distances, none at all).
bool BuildLiteralTable(std::span<const uint8_t> lengths, LiteralTable& table);
bool BuildDistanceTable(std::span<const uint8_t> lengths, DistanceTable& table);
bool BuildPrecodeTable(std::span<const uint8_t> lengths, PrecodeTable& table);

}  // namespace soci::deflate
