// The zinfo of a gzip layer: its checkpoints and windows as one blob, in the layout that zTOCs carry. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"

namespace soci {

struct Zinfo {
  uint64_t span_size = 0;
  std::vector<Checkpoint> checkpoints;
  std::vector<Window> windows;  // one per checkpoint
};

// kInvalidArgument for more checkpoints than the format's readers can take.
Result<std::string> EncodeZinfo(uint64_t span_size, const std::vector<Checkpoint>& checkpoints,
                                const std::vector<Window>& windows);

// Also reads the oldest layout, which leaves out checkpoint 0. Checks the layout, not that the checkpoints make sense.
Result<Zinfo> DecodeZinfo(std::string_view bytes);

}  // namespace soci
