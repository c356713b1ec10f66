// The LayerReader over a table, a store and a fetcher: what is on the disk is read from there, without blocking where
// that is possible; what is not is fetched, and answered from the memory it was decoded into.
//
// Any thread. A read that finds a span gone between looking and reading (it was damaged, or evicted) begins again.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "fuse/layer/layer_reader.h"
#include "fuse/layer/make_layer_reader.h"
#include "fuse/layer/open_gate.h"
#include "fuse/layer/read_ahead.h"
#include "indexer/base/mutex.h"

namespace soci {

class BackingStore;
class LayerFetcher;
class ThreadPool;

class LazyLayer final : public LayerReader {
 public:
  LazyLayer(std::shared_ptr<const LayerTable> table, BackingStore& store, LayerFetcher& fetcher, ThreadPool& io_pool,
            const ReadAheadOptions& read_ahead, const ReadObservers& observers);
  ~LazyLayer() override;

  const LayerTable& table() const override;
  void Read(InodeId file, uint64_t offset, size_t size, ReadReply reply) override;

 private:
  struct Parts;    // what a read needs, kept alive by the reads that still wait
  class FileRead;  // one read that was not answered at once

  // After the read was answered or is on its way: what may be read next, and who wants to know.
  void FollowUp(InodeId file, const UncompressedRange& content, const UncompressedRange& wanted, bool missed);

  const std::shared_ptr<Parts> parts_;
  const ReadObservers observers_;
  ReadAhead read_ahead_;
};

}  // namespace soci
