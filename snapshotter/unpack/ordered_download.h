// A blob from its first byte to its last, fetched as many ranges at once: on most links one connection does not fill
// the link, and a decoder wants its bytes in order.
//
// All downloads of a daemon share one DownloadWindow, which bounds their connections and the bytes that nobody has read
// yet. A download that has nothing to read comes before those that would fetch further ahead. With a scheduler they are
// its guests: programs that read lazily loaded layers come first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "indexer/base/byte_stream.h"
#include "indexer/base/bytes.h"
#include "indexer/base/fetch_context.h"
#include "indexer/base/mutex.h"
#include "indexer/base/units.h"

namespace soci {

class ByteSource;
class FetchScheduler;

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

  // Borrows the scheduler; null: nobody else uses the network.
  explicit DownloadWindow(const Options& options, FetchScheduler* scheduler = nullptr)
      : options_(options),
        scheduler_(scheduler),
        free_connections_(options.connections),
        free_ranges_(options.ranges) {}

 private:
  friend class OrderedDownload;

  const Options options_;
  FetchScheduler* const scheduler_;
  Mutex mutex_;  // before the scheduler's; guards what all downloads know of their ranges
  CondVar changed_;
  size_t free_connections_ SOCI_GUARDED_BY(mutex_);
  size_t free_ranges_ SOCI_GUARDED_BY(mutex_);
  size_t downloads_ SOCI_GUARDED_BY(mutex_) = 0;
  size_t starving_ SOCI_GUARDED_BY(mutex_) = 0;            // downloads without any range
  std::vector<ByteBuffer> spare_ SOCI_GUARDED_BY(mutex_);  // buffers of ranges that were read
};

// One reader. Borrows source and window; nothing is fetched before the first Read. Errors of the source come when their
// place is reached. `host`: which registry the scheduler counts the connections for. The destructor cancels what is
// under way and waits for its end.
std::unique_ptr<ByteStream> MakeOrderedDownload(const ByteSource& source, const FetchContext& context,
                                                DownloadWindow& window, const std::string& host = {});

}  // namespace soci
