// Sizes as people write them: 4_MiB. Always bytes, always 64 bit.
#pragma once

#include <cstdint>

namespace soci {

constexpr uint64_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr uint64_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr uint64_t operator""_GiB(unsigned long long n) { return n << 30; }

}  // namespace soci
