// The layers of tests/golden and what the reference tool made of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "indexer/codec/checkpoint.h"

namespace soci::golden {

struct Layer {
  std::string name;
  Compression compression = Compression::kGzip;
  uint64_t span_size = 0;
  std::string error;  // empty: accepted
  std::string ztoc_digest;
};

inline void PrintTo(const Layer& layer, std::ostream* out) { *out << layer.name; }

// In the order of their names.
const std::vector<Layer>& Layers();

// Those that the reference tool accepted, or refused.
std::vector<Layer> LayersWhere(bool accepted);

// A name that a test may bear.
std::string TestName(const ::testing::TestParamInfo<Layer>& info);

// Its bytes, made by the "golden" fixture in the build folder.
std::string ReadBlob(const Layer& layer);

// Its tar.
std::string Decoded(const Layer& layer, const std::string& blob);

}  // namespace soci::golden
