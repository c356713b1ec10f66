// Numbers that look random and are the same on every machine: whole numbers only, nothing of the standard library whose
// result is left to its makers. Values; no thread rules.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace soci::bench {

// The last step of splitmix64: each bit of the result depends on all of the value.
inline uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// FNV-1a.
inline uint64_t HashText(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() { return Mix(state_++); }
  // From 0 to bound - 1; the few too many of small remainders do not matter here.
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  // Low numbers are much more likely than high ones, as words in a text are.
  uint64_t Skewed(uint64_t bound) { return Below(bound) * Below(bound) / bound * Below(bound) / bound; }
  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace soci::bench
