// What is wrong with an index, one line per fault. A long list is cut: a false table may be wrong in a million places.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace soci {

class LayerFaults {
 public:
  static constexpr size_t kMost = 100;

  void Add(std::string fault) {
    if (faults_.size() < kMost) {
      faults_.push_back(std::move(fault));
    } else {
      ++left_out_;
    }
  }

  bool empty() const { return faults_.empty(); }
  const std::vector<std::string>& lines() const { return faults_; }
  size_t left_out() const { return left_out_; }

 private:
  std::vector<std::string> faults_;
  size_t left_out_ = 0;
};

}  // namespace soci
