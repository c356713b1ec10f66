// The span decoder: any bytes from any bit on, with any window, are decoded or refused, never more.
#include <cstdint>
#include <string>

#include "indexer/codec/span_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  const soci::SpanExtent span{
      .compressed = {0, size - 4}, .uncompressed = {0, 0}, .bits = static_cast<uint8_t>(data[0] % 8)};
  const std::string window(soci::kWindowSize, static_cast<char>(data[1]));
  std::string out(static_cast<size_t>(data[2]) << (data[3] % 12), '?');
  const std::string compressed(reinterpret_cast<const char*>(data + 4), size - 4);
  const soci::SpanDecoder& decoder = soci::DecoderFor(soci::Compression::kGzip);
  const soci::Status status =
      decoder.Decode(span, soci::AsBytes(window), soci::AsBytes(compressed), std::as_writable_bytes(std::span(out)));
  uint64_t drained = 0;
  const soci::Status to_end =
      decoder.DecodeToEnd(span, soci::AsBytes(window), soci::AsBytes(compressed), [&drained](soci::ByteSpan bytes) {
        drained += bytes.size();
        return drained > (1 << 20) ? absl::CancelledError("enough") : soci::OkStatus();
      });
  if (to_end.ok() && drained >= out.size() && !status.ok()) __builtin_trap();
  return 0;
}
