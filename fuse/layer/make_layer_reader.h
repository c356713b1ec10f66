// Makes the reader of one layer.
#pragma once

#include <memory>

#include "fuse/layer/layer_reader.h"
#include "fuse/layer/read_ahead.h"

namespace soci {

class BackingStore;
class FirstReads;
class LayerFetcher;
class ProgramClock;
class ThreadPool;

// Who wants to know what is read, and how long it took; either may be missing.
struct ReadObservers {
  FirstReads* first_reads = nullptr;
  ProgramClock* clock = nullptr;
};

// All that is passed by reference outlives the reader, but for reads that still wait for the fetcher: once the reader
// is gone they end with EIO and touch nothing. `io_pool` does the reads that have to wait for the disk. Do not drop the
// reader from within one of its replies.
std::unique_ptr<LayerReader> MakeLayerReader(std::shared_ptr<const LayerTable> table, BackingStore& store,
                                             LayerFetcher& fetcher, ThreadPool& io_pool,
                                             const ReadAheadOptions& read_ahead = {},
                                             const ReadObservers& observers = {});

}  // namespace soci
