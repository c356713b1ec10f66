// Collects the entries of one planned layer, in kinds of folders that training images have. Pure; the same calls with
// the same seed give the same entries. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "bench/image/random.h"
#include "bench/image/tree.h"

namespace soci::bench {

class LayerBuilder {
 public:
  LayerBuilder(std::string name, uint64_t seed);

  // With the folders above it; twice is once.
  void Directory(const std::string& path);
  // With the folder it lies in.
  void File(const std::string& path, uint64_t size, bool executable = false);
  void Add(TreeEntry entry);

  // Modules in folders with their compiled twins, links here and there, and libraries that take the rest of the bytes.
  void Packages(const std::string& root, uint64_t bytes, uint64_t files);
  // Many files of about the same size.
  void DataSet(const std::string& root, uint64_t bytes, uint64_t files);
  // Libraries of very different sizes.
  void Libraries(const std::string& folder, uint64_t bytes);

  PlannedLayer Finish() { return std::move(layer_); }

 private:
  std::string Name();
  void Modules(const std::string& folder, uint64_t count, uint64_t scale_permille);
  void Links(const std::string& path);
  uint64_t SmallSize(uint64_t scale_permille);

  PlannedLayer layer_;
  Random random_;
  std::unordered_set<std::string> directories_;
  uint64_t names_ = 0, files_ = 0, bytes_ = 0;
};

}  // namespace soci::bench
