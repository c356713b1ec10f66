// Bytes that come in order, once: a response body, a file being decoded. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>

#include "indexer/base/bytes.h"
#include "indexer/base/fetch_context.h"
#include "indexer/base/result.h"

namespace soci {

class ByteSource;

class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // The next bytes, at least one; 0 only at the end. Blocks until some are there.
  virtual Result<size_t> Read(MutableByteSpan out) = 0;
};

// Reads all of `source` from 0 in order by one StartRead, holding at most `window` bytes that nobody has read yet. The
// source outlives the stream.
std::unique_ptr<ByteStream> MakeSourceStream(const ByteSource& source, const FetchContext& context,
                                             size_t window = 4 << 20);

}  // namespace soci
