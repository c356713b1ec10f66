// Whole-file reads and two-step writes: what is on disk is either the old or the new, whatever happens in between.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

namespace soci {

// open(2) with O_CLOEXEC; the path is in the error.
Result<UniqueFd> OpenFile(const std::string& path, int flags, unsigned mode = 0644);

// All of a file; kResourceExhausted if it is larger than `limit`.
Result<std::string> ReadFile(const std::string& path, uint64_t limit = uint64_t{1} << 30);

// pread and pwrite until all is done.
Status ReadFullAt(int fd, uint64_t offset, MutableByteSpan out, std::string_view name);
Status WriteFullAt(int fd, uint64_t offset, ByteSpan bytes, std::string_view name);

// Temporary file in the same folder, fsync, rename, fsync of the folder.
Status WriteFileAtomic(const std::string& path, std::string_view contents, unsigned mode = 0644);
// The same, of pieces that are too large to be put together.
Status WriteFileAtomic(const std::string& path, const std::vector<std::string_view>& pieces, unsigned mode = 0644);

// Temporary file and rename, nothing synced: whoever reads finds the old or the new, also after a kill. A power loss
// may leave it torn, so it is for what is checked when it is read and can be had again.
Status ReplaceFile(const std::string& path, std::string_view contents, unsigned mode = 0644);

// mkdir -p.
Status MakeDirectories(const std::string& path, unsigned mode = 0755);

// fsync of a directory, so that renames in it survive a power loss.
Status SyncDirectory(const std::string& path);

// rm -rf that never crosses a mount; a missing path is fine. A requested stop ends it with kCancelled between two
// files.
Status RemoveTree(const std::string& path, const std::stop_token& stop = {});

}  // namespace soci
