// Windows in the layer table are kept packed: mostly text and code, they shrink to a third.
#pragma once

#include <memory>
#include <string>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"

namespace soci {

// Keeps between windows what zstd needs for one; one thread.
class WindowPacker {
 public:
  WindowPacker();
  ~WindowPacker();
  WindowPacker(const WindowPacker&) = delete;
  WindowPacker& operator=(const WindowPacker&) = delete;

  // A window of zeros packs to nothing.
  std::string Pack(ByteSpan window);

 private:
  struct Context;
  const std::unique_ptr<Context> context_;
};

// kDataLoss unless `packed` gives exactly kWindowSize bytes. Any thread.
Status UnpackWindow(ByteSpan packed, Window& out);

}  // namespace soci
