// A record: any bytes are either refused or come back from their encoding as the same value. The input is tried as it
// is, and as the message within a zstd frame, which fuzzing would hardly ever guess.
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "indexer/record/record_codec.h"

namespace {

void CheckRoundTrip(std::string_view bytes) {
  const auto record = soci::DecodeRecord(bytes);
  if (!record.ok()) return;
  const auto encoded = soci::EncodeRecord(*record);
  if (!encoded.ok()) return;  // sound, but larger than what we would write
  const auto again = soci::DecodeRecord(*encoded);
  if (!again.ok() || *again != *record) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  CheckRoundTrip({reinterpret_cast<const char*>(data), size});
  std::string frame(ZSTD_compressBound(size), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), data, size, 1));
  CheckRoundTrip(frame);
  return 0;
}
