// What our decoder says about a gzip stream, in the oracle's terms. Pure; any thread.
#pragma once

#include <string_view>

#include "indexer/base/byte_stream.h"
#include "indexer/base/result.h"
#include "tests/gzip/zlib_oracle.h"

namespace soci::test {

// Gives a text out in reads of at most so many bytes.
class TextStream final : public ByteStream {
 public:
  explicit TextStream(std::string_view text, size_t most = 1 << 20) : text_(text), most_(most) {}
  Result<size_t> Read(MutableByteSpan out) override;

 private:
  std::string_view text_;
  size_t most_;
};

// The decoder reads at most `read_size` bytes at once.
Result<OracleAnswer> AskOurs(std::string_view gzip, uint64_t span_size, size_t read_size = 1 << 20);

}  // namespace soci::test
