#include "indexer/codec/detect.h"

#include <algorithm>

namespace soci {
namespace {

using namespace std::string_view_literals;

constexpr size_t kTarMagicOffset = 257;
constexpr size_t kTarBlock = 512;

// A zstd stream may begin with skippable frames, whose magic has any lowest half-byte.
bool IsZstd(std::string_view bytes) {
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv)) return true;
  return bytes.size() >= 4 && (static_cast<uint8_t>(bytes[0]) & 0xf0) == 0x50 && bytes.substr(1, 3) == "\x2a\x4d\x18"sv;
}

bool IsTar(std::string_view bytes) {
  if (bytes.size() < kTarBlock) return false;
  bytes = bytes.substr(0, kTarBlock);
  if (bytes.substr(kTarMagicOffset, 5) == "ustar"sv) return true;
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == '\0'; });  // an empty archive
}

}  // namespace

std::string_view ToString(StreamFormat format) {
  switch (format) {
    case StreamFormat::kPlainTar:
      return "plain tar";
    case StreamFormat::kGzip:
      return "gzip";
    case StreamFormat::kZstd:
      return "zstd";
  }
  return "unknown";
}

std::optional<StreamFormat> DetectCompression(ByteSpan first_bytes) {
  const std::string_view bytes = AsText(first_bytes);
  if (bytes.starts_with("\x1f\x8b\x08"sv)) return StreamFormat::kGzip;
  if (IsZstd(bytes)) return StreamFormat::kZstd;
  if (IsTar(bytes)) return StreamFormat::kPlainTar;
  return std::nullopt;
}

}  // namespace soci
