// How often one host may be asked twice for the same bytes: at most once in twenty requests that someone waits for.
// Guarded by the scheduler's mutex. Pure.
#pragma once

#include <cstdint>

namespace soci {

class HedgeBudget {
 public:
  void NoteRequest() { ++requests_; }
  // Whether one more is within the budget; then it is taken.
  bool Take() {
    if ((hedges_ + 1) * kRequestsPerHedge > requests_) return false;
    ++hedges_;
    return true;
  }

 private:
  static constexpr uint64_t kRequestsPerHedge = 20;
  uint64_t requests_ = 0;
  uint64_t hedges_ = 0;
};

}  // namespace soci
