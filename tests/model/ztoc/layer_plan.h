// A random layer as a plan: small enough to print, and to make smaller when it shows a fault. Values.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/gzip/gzip_maker.h"

namespace soci::test {

struct PlannedFile {
  char kind =
      'f';  // f file, d directory, l symlink, h hard link to the first file, p fifo, c and b devices, w whiteout
  size_t name_size = 8;
  size_t size = 0;
  unsigned seed = 0;
  bool has_xattr = false;
};

struct PlannedMember {
  size_t size = 0;  // bytes of the tar
  GzipRecipe recipe;
};

struct LayerPlan {
  std::vector<PlannedFile> files;
  std::vector<PlannedMember> members;  // what they leave of the tar goes into one more
  size_t padding = 0;                  // after the archive
  uint64_t span_size = 4096;
  size_t read_size = 4096;
  bool gnu_names = false;  // long names in members of their own, not in PAX records
  bool plain = false;      // not compressed at all

  std::string Tar() const;
  std::string Blob(const std::string& tar) const;
  std::string ToString() const;
};

LayerPlan RandomPlan(unsigned seed);

// Plans with one thing less than `plan`, the largest steps first.
std::vector<LayerPlan> SmallerPlans(const LayerPlan& plan);

}  // namespace soci::test
