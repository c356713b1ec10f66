// Windows in the layer table are kept packed: mostly text and code, they shrink to a third. Any thread.
#pragma once

#include <string>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"

namespace soci {

// A window of zeros packs to nothing.
std::string PackWindow(ByteSpan window);

// kDataLoss unless `packed` gives exactly kWindowSize bytes.
Status UnpackWindow(ByteSpan packed, Window& out);

}  // namespace soci
