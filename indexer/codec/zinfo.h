// The zinfo of a gzip layer: its checkpoints and windows as one blob, in the layout that zTOCs carry. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"

namespace soci {

struct Zinfo {
  uint64_t span_size = 0;
  std::vector<Checkpoint> checkpoints;
  Windows windows;  // one per checkpoint
};

// The same, with the windows where they lie in the blob.
struct ZinfoView {
  uint64_t span_size = 0;
  std::vector<Checkpoint> checkpoints;
  std::vector<ByteSpan> windows;
};

// The size of the blob. kInvalidArgument for more checkpoints than the format's readers can take.
Result<size_t> ZinfoSize(size_t checkpoints);

// Appends the blob, ZinfoSize bytes, to `out`. Each window is let go, and its memory returned, once it is copied: a
// large layer has gigabytes of them. One window per checkpoint.
void AppendZinfo(uint64_t span_size, const std::vector<Checkpoint>& checkpoints, Windows windows, std::string& out);

// Also reads the oldest layout, which leaves out checkpoint 0. Checks the layout, not that the checkpoints make sense.
Result<Zinfo> DecodeZinfo(std::string_view bytes);
Result<ZinfoView> ViewZinfo(std::string_view bytes);

}  // namespace soci
