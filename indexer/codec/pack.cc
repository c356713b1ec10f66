#include "indexer/codec/pack.h"

#include <fmt/format.h>
#include <zstd.h>

namespace soci {

std::string Pack(ByteSpan bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 1));
  return packed;
}

Status Unpack(ByteSpan packed, MutableByteSpan out) {
  const size_t size = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(size)) return absl::DataLossError(fmt::format("packed bytes: {}", ZSTD_getErrorName(size)));
  if (size != out.size()) {
    return absl::DataLossError(fmt::format("packed bytes hold {} bytes instead of {}", size, out.size()));
  }
  return OkStatus();
}

}  // namespace soci
