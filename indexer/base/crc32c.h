// CRC-32C (Castagnoli), the checksum of everything we keep on disk: finds damage, proves nothing. Any thread.
#pragma once

#include <cstdint>

#include "indexer/base/bytes.h"

namespace soci {

// The checksum of `bytes`, or of what `so_far` is the checksum of with `bytes` after it.
uint32_t Crc32c(ByteSpan bytes, uint32_t so_far = 0);

}  // namespace soci
