#include "indexer/codec/window_pack.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <new>

namespace soci {

struct WindowPacker::Context {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd{ZSTD_createCCtx(), &ZSTD_freeCCtx};
};

WindowPacker::WindowPacker() : context_(std::make_unique<Context>()) {
  if (context_->zstd == nullptr) throw std::bad_alloc();
}

WindowPacker::~WindowPacker() = default;

std::string WindowPacker::Pack(ByteSpan window) {
  if (std::all_of(window.begin(), window.end(), [](std::byte byte) { return byte == std::byte{0}; })) return {};
  std::string packed(ZSTD_compressBound(window.size()), '\0');
  // Level 1: higher levels save a tenth and cost several times the time while an image is being pulled.
  packed.resize(ZSTD_compressCCtx(context_->zstd.get(), packed.data(), packed.size(), window.data(), window.size(), 1));
  return packed;
}

Status UnpackWindow(ByteSpan packed, Window& out) {
  if (packed.empty()) {
    out.fill(std::byte{0});
    return OkStatus();
  }
  const size_t size = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(size)) return absl::DataLossError(fmt::format("packed window: {}", ZSTD_getErrorName(size)));
  if (size != out.size()) return absl::DataLossError(fmt::format("packed window holds {} bytes", size));
  return OkStatus();
}

}  // namespace soci
