#include "indexer/base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace soci {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected

constexpr std::array<std::array<uint32_t, 256>, 8> MakeTables() {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t table = 1; table < 8; ++table) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[table - 1][byte];
      tables[table][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}
constexpr auto kTables = MakeTables();

// Eight bytes a step by eight tables: for machines without the instruction.
uint32_t Portable(const unsigned char* at, size_t size, uint32_t crc) {
  for (; size >= 8; size -= 8, at += 8) {
    uint64_t word = 0;
    for (int i = 7; i >= 0; --i) word = (word << 8) | at[i];
    word ^= crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; size > 0; --size, ++at) crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 0xff];
  return crc;
}

#if defined(__x86_64__)
// The instruction takes three cycles and can begin one in each: three lanes of this size go side by side.
constexpr size_t kLane = 4096;

// What a checksum becomes when kLane zero bytes follow. That is linear, so a table for each of its bytes does it.
class AfterLane {
 public:
  AfterLane() {
    for (size_t bit = 0; bit < 32; ++bit) {
      uint32_t crc = uint32_t{1} << bit;
      for (size_t i = 0; i < kLane; ++i) crc = (crc >> 8) ^ kTables[0][crc & 0xff];
      auto& table = tables_[bit / 8];
      for (uint32_t byte = 0; byte < 256; ++byte) table[byte] ^= (byte >> (bit % 8)) & 1 ? crc : 0;
    }
  }
  uint32_t operator()(uint64_t crc) const {
    return tables_[0][crc & 0xff] ^ tables_[1][(crc >> 8) & 0xff] ^ tables_[2][(crc >> 16) & 0xff] ^
           tables_[3][(crc >> 24) & 0xff];
  }

 private:
  std::array<std::array<uint32_t, 256>, 4> tables_{};
};

uint64_t WordAt(const unsigned char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

__attribute__((target("sse4.2"))) uint32_t Native(const unsigned char* at, size_t size, uint32_t crc) {
  static const AfterLane after_lane;
  uint64_t wide = crc;
  for (; size >= 3 * kLane; size -= 3 * kLane, at += 3 * kLane) {
    uint64_t second = 0;
    uint64_t third = 0;
    for (size_t i = 0; i < kLane; i += 8) {
      wide = _mm_crc32_u64(wide, WordAt(at + i));
      second = _mm_crc32_u64(second, WordAt(at + kLane + i));
      third = _mm_crc32_u64(third, WordAt(at + 2 * kLane + i));
    }
    wide = after_lane(after_lane(wide) ^ second) ^ third;
  }
  for (; size >= 8; size -= 8, at += 8) {
    wide = _mm_crc32_u64(wide, WordAt(at));
  }
  crc = static_cast<uint32_t>(wide);
  for (; size > 0; --size, ++at) crc = _mm_crc32_u8(crc, *at);
  return crc;
}
#endif

}  // namespace

uint32_t Crc32c(ByteSpan bytes, uint32_t so_far) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
#if defined(__x86_64__)
  static const bool native = __builtin_cpu_supports("sse4.2") != 0;
  if (native) return ~Native(at, bytes.size(), ~so_far);
#endif
  return ~Portable(at, bytes.size(), ~so_far);
}

}  // namespace soci
