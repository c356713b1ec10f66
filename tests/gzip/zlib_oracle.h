// What zlib says about a gzip stream: where its blocks begin, what it decodes to, or that it is wrong. The decoder
// under test must say the same. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/codec/checkpoint.h"

namespace soci::test {

struct OracleAnswer {
  std::string decoded;
  std::vector<Checkpoint> checkpoints;
  std::vector<std::string> windows;
};

// Nothing if zlib refuses the stream or finds bytes after it.
std::optional<OracleAnswer> AskZlib(std::string_view gzip, uint64_t span_size);

}  // namespace soci::test
