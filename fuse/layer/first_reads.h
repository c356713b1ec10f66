// Tells listeners which parts of a layer's files are read for the first time since they began to listen.
//
// While nobody listens a read costs one relaxed load; while somebody does, a few atomic operations for each who does,
// and a call only for a part that is new to that listener. No lock, no memory allocated. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "indexer/base/mutex.h"
#include "indexer/base/ranges.h"
#include "indexer/table/layer_table.h"

namespace soci {

class FirstReads {
 public:
  struct Part {
    InodeId file{};
    uint64_t offset = 0;  // in the file
    UncompressedRange content;
    bool missed = false;  // it was not on the disk
  };

  class Listener {
   public:
    virtual ~Listener() = default;
    // On the path of a read, perhaps from several threads at once: must be quick.
    virtual void OnFirstRead(const Part& part) = 0;
  };

  explicit FirstReads(std::shared_ptr<const LayerTable> table);
  ~FirstReads();
  FirstReads(const FirstReads&) = delete;
  FirstReads& operator=(const FirstReads&) = delete;

  // However many listen already; each costs a bit for every file and for every 64 KiB of the layer.
  void Add(Listener& listener);
  // When it returns, no call is under way and none will come. Not from within a call.
  void Remove(Listener& listener);

  void OnRead(const Part& part) {
    if (listeners_.load(std::memory_order_relaxed) > 0) Tell(part);
  }

 private:
  class Bits;
  struct Place {
    std::atomic<Listener*> listener = nullptr;
    std::atomic<uint32_t> inside = 0;  // reads that may be calling it
    std::unique_ptr<Bits> files;       // seen at all; set while no listener is
    std::unique_ptr<Bits> blocks;      // ... of the tar
  };

  // Places for some listeners. Readers walk them without a lock, so that none goes before all do.
  struct Places {
    std::array<Place, 8> here;
    std::atomic<Places*> more = nullptr;
  };

  Place& FreePlace() SOCI_REQUIRES(changing_);
  void Tell(const Part& part);
  bool IsNew(Place& place, const Part& part) const;

  const std::shared_ptr<const LayerTable> table_;
  Mutex changing_;  // a leaf: one listener comes or goes at a time; reads do not take it
  std::atomic<uint32_t> listeners_ = 0;
  Places places_;
  std::vector<std::unique_ptr<Places>> more_places_ SOCI_GUARDED_BY(changing_);
};

}  // namespace soci
