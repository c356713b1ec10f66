// The zinfo reader: what it takes is written back byte for byte (but for the oldest layout, which gets its checkpoint
// 0).
#include "indexer/codec/zinfo.h"

#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Windows are no use to the fuzzer: every 17 bytes get one, so that a small input has many checkpoints.
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size > 12) {
    bytes.resize(12);
    for (size_t at = 12; at < size && at < 12 + 17 * 20; at += 17) {
      bytes.append(reinterpret_cast<const char*>(data) + at, std::min<size_t>(17, size - at));
      if (size - at >= 17) bytes.append(soci::kWindowSize, static_cast<char>(data[at]));
    }
  }
  const auto zinfo = soci::DecodeZinfo(bytes);
  if (!zinfo.ok()) return 0;
  if (zinfo->checkpoints.size() != zinfo->windows.size()) abort();
  std::string out;
  soci::AppendZinfo(zinfo->span_size, zinfo->checkpoints, zinfo->windows, out);
  if (out.size() != *soci::ZinfoSize(zinfo->checkpoints.size())) abort();
  if (out.size() == bytes.size() && out != bytes) abort();
  return 0;
}
