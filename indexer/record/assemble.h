// Puts a record together of parts that may lie over each other: what several runs, or several old files, say of one
// range becomes one extent, needed when the first of them needed it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "indexer/record/record.h"

namespace soci {

struct RecordPart {
  uint32_t layer = 0;  // index into Assembly::layers
  std::string path = {};
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t at_us = 0;  // when it is needed
  uint64_t runs = 0;   // as RecordedExtent::runs; a part of no run is left out, if there are runs
  uint64_t order = 0;  // decides between parts that are needed at one time
};

struct Assembly {
  oci::Digest manifest = {};
  std::vector<oci::LayerDigest> layers = {};
  std::vector<uint64_t> runs = {};
  std::map<std::pair<uint32_t, std::string>, uint64_t> sizes = {};  // of every file that a part names
  std::vector<RecordPart> parts = {};
};

// A sound record, if the parts are of sound ones. What is too much for one is cut where it is needed latest.
Record Assemble(const Assembly& assembly);

// The first `count` extents, and what they need.
Record FirstExtents(const Record& record, size_t count);

}  // namespace soci
