// Writes the one kind of tar member this project writes: a regular file with a short name. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "indexer/base/bytes.h"

namespace soci::tar {

// One ustar block: mode 0644, owner root, mtime 0, so that the same content gives the same archive. `name` has at most
// 100 bytes. From 8 GiB on the size is written in GNU's way.
ByteBuffer FileHeaderBlock(std::string_view name, uint64_t size);

}  // namespace soci::tar
