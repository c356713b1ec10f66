// A whole layer, decoded in order: what a full unpack reads. One thread at a time.
#pragma once

#include <memory>

#include "indexer/base/byte_stream.h"
#include "indexer/codec/detect.h"

namespace soci {

// The layer's tar bytes. Borrows `layer`. Read returns kInvalidArgument for data that is damaged, cut short, or
// followed by other bytes; errors of the layer's own stream as they are.
std::unique_ptr<ByteStream> DecodeStream(ByteStream& layer, StreamFormat format);

}  // namespace soci
