// WWW-Authenticate: any text gives a bounded list of challenges with lower-case names.
#include "indexer/registry/challenge.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto challenges = soci::ParseChallenges({reinterpret_cast<const char*>(data), size});
  if (challenges.size() > 16) std::abort();
  for (const soci::Challenge& challenge : challenges) {
    if (challenge.scheme.empty() || challenge.params.size() > 32) std::abort();
    for (const auto& [name, value] : challenge.params) {
      if (name.empty() || value.size() > size) std::abort();
      for (char c : name) {
        if (c >= 'A' && c <= 'Z') std::abort();
      }
    }
  }
  return 0;
}
