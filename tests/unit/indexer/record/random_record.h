// Records of a small world, so that any two of them have much in common. Values.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "indexer/record/record_builder.h"

namespace soci::test {

inline oci::Digest ImageDigest() { return oci::Digest::Of("image"); }
inline oci::LayerDigest LayerOf(int number) {
  return oci::LayerDigest(oci::Digest::Of("layer" + std::to_string(number)));
}
inline std::vector<oci::LayerDigest> Layers(int count) {
  std::vector<oci::LayerDigest> layers;
  for (int i = 0; i < count; ++i) layers.push_back(LayerOf(i));
  return layers;
}

// What one run reads of an image of three layers, of which it knows these.
inline Record RandomRun(uint32_t seed, int reads = 30, const std::vector<oci::LayerDigest>& known = Layers(3)) {
  std::mt19937 random(seed);
  const auto below = [&](uint64_t limit) { return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random); };
  RecordBuilder builder(ImageDigest(), known);
  uint64_t now = 0;
  for (int i = 0; i < reads; ++i) {
    const uint64_t file = below(12);
    const uint64_t size = 1000 + file * 30'000;
    now += below(3) == 0 ? 0 : below(2'000);
    builder.Add(LayerOf(static_cast<int>(file % 3)), "dir/file" + std::to_string(file), size, below(size),
                1 + below(50'000), now);
  }
  return builder.Build();
}

}  // namespace soci::test
