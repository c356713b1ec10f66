// A blob from its first byte to its last, fetched as many ranges at once: on most links one connection does not fill
// the link, and a decoder wants its bytes in order.
//
// All downloads of a daemon share one DownloadWindow, which bounds their connections and the bytes that nobody has read
// yet. A download that has nothing to read comes before those that would fetch further ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "indexer/base/byte_stream.h"
#include "indexer/base/bytes.h"
#include "indexer/base/fetch_context.h"
#include "indexer/base/mutex.h"
#include "indexer/base/units.h"

namespace soci {

class ByteSource;

// Any thread.
class DownloadWindow {
 public:
  struct Options {
    size_t connections = 16;
    // Short ranges keep the one that is read next from having a small share of the link for long; 32 of them are a
    // quarter of a second of a fast link.
    uint64_t range = 2_MiB;
    size_t ranges = 32;  // fetched or being fetched, and not read yet
  };

  explicit DownloadWindow(const Options& options)
      : options_(options), free_connections_(options.connections), free_ranges_(options.ranges) {}

 private:
  friend class OrderedDownload;

  const Options options_;
  Mutex mutex_;  // a leaf; guards what all downloads know of their ranges
  CondVar changed_;
  size_t free_connections_ SOCI_GUARDED_BY(mutex_);
  size_t free_ranges_ SOCI_GUARDED_BY(mutex_);
  size_t starving_ SOCI_GUARDED_BY(mutex_) = 0;            // downloads without any range
  std::vector<ByteBuffer> spare_ SOCI_GUARDED_BY(mutex_);  // buffers of ranges that were read
};

// One reader. Borrows both; nothing is fetched before the first Read. Errors of the source come when their place is
// reached. The destructor cancels what is under way and waits for its end.
std::unique_ptr<ByteStream> MakeOrderedDownload(const ByteSource& source, const FetchContext& context,
                                                DownloadWindow& window);

}  // namespace soci
