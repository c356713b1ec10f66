#include "bench/link/faults.h"

namespace soci {
namespace {

// Most bodies are ranges of many spans; what lies further in than this is hit as hard by the beginning.
constexpr uint64_t kLatestByte = 64 << 10;

}  // namespace

Fault FaultDice::Next() {
  using Kind = Fault::Kind;
  MutexLock lock(mutex_);
  double draw = static_cast<double>(random_() >> 11) * 0x1p-53;
  const uint64_t at = random_() % kLatestByte;
  const int bit = static_cast<int>(random_() % 8);
  for (const auto& [share, kind] : {std::pair(options_.unavailable, Kind::kUnavailable),
                                    {options_.reset, Kind::kReset},
                                    {options_.stall, Kind::kStall},
                                    {options_.flip, Kind::kFlip}}) {
    if (draw < share) return {kind, at, bit};
    draw -= share;
  }
  return {};
}

}  // namespace soci
