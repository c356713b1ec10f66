// Bytes we keep on disk packed: tar headers and the like, which shrink to a tenth. Any thread.
#pragma once

#include <string>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"

namespace soci {

std::string Pack(ByteSpan bytes);

// kDataLoss unless `packed` gives exactly as many bytes as `out` has.
Status Unpack(ByteSpan packed, MutableByteSpan out);

}  // namespace soci
