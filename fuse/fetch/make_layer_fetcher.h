// Makes the fetcher of one layer.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "fuse/fetch/layer_fetcher.h"
#include "fuse/store/backing_store.h"
#include "indexer/base/byte_source.h"
#include "indexer/codec/span_decoder.h"
#include "indexer/table/layer_table.h"

namespace soci {

class FetchScheduler;

struct LayerFetcherOptions {
  std::string host;  // whose connections the layer takes: the registry's name; layers of one host share a budget
  // From Get to an answer, retries included.
  std::chrono::milliseconds budget = std::chrono::seconds(60);
  uint64_t wanted_range = 8 << 20;  // compressed bytes of neighbouring wanted spans that go out as one range
  uint64_t fill_range = 8 << 20;
  uint64_t fill_near = 32 << 20;      // compressed bytes of fill from where a program missed something
  int verify_attempts = 3;            // a proxy may serve a torn body once; three times is corruption
  uint64_t largest_span = 256 << 20;  // larger ones, compressed or not, are refused: an index must not size our memory
  const SpanDecoder* decoder = nullptr;  // the one of the table's compression
};

// Everything that is passed by reference outlives the fetcher.
std::unique_ptr<LayerFetcher> MakeLayerFetcher(FetchScheduler& scheduler, std::shared_ptr<const LayerTable> table,
                                               const ByteSource& source, BackingStore& store,
                                               LayerFetcherOptions options);

}  // namespace soci
