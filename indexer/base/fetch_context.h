// Why and how urgently bytes are wanted. Passed down the ladder of a read; a lower room never learns who called it.
//
// A value: copied freely, any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace soci {

// In strict order of urgency: a class is served only when no class before it waits for a connection.
enum class FetchClass : uint8_t {
  kDemand,     // someone waits
  kReplay,     // a recorded list
  kReadAhead,  // sequential use
  kFill,       // the rest of the layer
};

struct FetchContext {
  FetchClass fetch_class = FetchClass::kDemand;
  // Everything, retries included, must be over in this time; then kDeadlineExceeded.
  std::chrono::milliseconds budget = std::chrono::seconds(60);
  // A requested stop ends the operation with kCancelled as soon as it can.
  std::stop_token stop = {};
  // Whoever asks tries again, on terms of his own. Below, nothing waits for another try unless the server asked for
  // that (Retry-After); what broke off in the middle still goes on.
  bool asker_retries = false;
};

}  // namespace soci
