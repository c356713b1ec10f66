// The JSON of an error answer: whatever it says, what we repeat of it is short and printable.
#include "indexer/registry/registry_error.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text = soci::DescribeErrorBody({reinterpret_cast<const char*>(data), size});
  if (text.size() > 600) std::abort();
  for (unsigned char c : text) {
    if (c < ' ' || c >= 0x7f) std::abort();
  }
  return 0;
}
