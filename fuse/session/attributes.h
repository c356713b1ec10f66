// What the table says about an inode, in the kernel's words. Pure.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>

#include "fuse/layer/layer_reader.h"
#include "indexer/base/result.h"

namespace soci {

struct stat StatOf(InodeId inode, const InodeAttributes& attributes);

// lseek with SEEK_DATA or SEEK_HOLE in a file whose `size` bytes are all data, as ext4 answers it: ENXIO at the end and
// after it.
Result<off_t> SeekInData(off_t offset, int whence, uint64_t size);

}  // namespace soci
