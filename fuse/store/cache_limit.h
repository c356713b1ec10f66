// The most that lazy layers may keep on the disk, all together, and who has to give way for it. One per daemon.
//
// Counted is what a layer's spans take in its backing files, in whole blocks, and what belongs to no file (the
// residue); not what describes a layer, nor folders. Room is made before bytes are written, so what is counted is never
// above the limit, but for layers that were sealed when the limit was none or another. A layer that is kept whole has
// all its room from the beginning and is never evicted from; together these take three quarters of the limit at most,
// so that the others find some.
//
// Any thread. An eviction runs on the thread that needs the room, with no lock of this class held.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "fuse/store/eviction_clock.h"
#include "fuse/store/span_shelf.h"
#include "indexer/base/mutex.h"

namespace soci {

class CacheLimit {
 public:
  // Whose spans go when room is needed.
  class Evictor {
   public:
    virtual ~Evictor() = default;
    // The span is going: takes it off the disk and off the shelf. False if it stays.
    virtual bool Evict(SpanId span) = 0;
  };

  struct Figures {
    uint64_t limit = 0;
    uint64_t held = 0;     // bytes counted now, those reserved for whole layers among them
    uint64_t evicted = 0;  // spans, since the process began
    uint64_t refused = 0;  // spans that were not written, as there was no room for them
  };

  // One layer's share. Gives everything back at its end, which waits for evictions that are under way.
  class Account {
   public:
    // Borrows all.
    Account(CacheLimit& limit, SpanShelf& shelf, Evictor& evictor);
    ~Account();
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

    // Room for so many bytes, made by evictions if there is none. False: there is none to be had.
    bool Take(uint64_t bytes);
    void Give(uint64_t bytes);
    // These are on the disk already; Trim makes them fit.
    void Adopt(uint64_t bytes);
    void Trim();
    // Room for `total` bytes, all that the layer will ever need. False, and nothing has changed, if that is too much.
    bool KeepWhole(uint64_t total);
    // The layer is whole, whatever the limit says.
    void AdoptWhole(uint64_t total);
    bool kept_whole() const { return kept_whole_.load(std::memory_order_acquire); }
    // Bytes that may be fetched ahead of their use and are likely to be there when it comes.
    uint64_t RoomAhead() const;

   private:
    friend class CacheLimit;
    CacheLimit& limit_;
    SpanShelf& shelf_;
    Evictor& evictor_;
    std::atomic<bool> kept_whole_{false};  // written under the limit's mutex
    // Guarded by the limit's mutex.
    uint64_t held_ = 0;
    uint64_t whole_ = 0;  // reserved for all of it, or about to be
    uint32_t evicting_ = 0;
  };

  explicit CacheLimit(uint64_t bytes) : limit_(bytes) {}

  Figures figures() const;

 private:
  bool EvictOne() SOCI_REQUIRES(mutex_);
  void Trim() SOCI_REQUIRES(mutex_);
  void Withdraw(Account& account) SOCI_REQUIRES(mutex_);

  const uint64_t limit_;
  mutable Mutex mutex_;  // a leaf
  CondVar evicted_;
  EvictionClock clock_ SOCI_GUARDED_BY(mutex_);
  std::vector<Account*> candidates_ SOCI_GUARDED_BY(mutex_);  // those that may be evicted from
  std::vector<SpanShelf*> shelves_ SOCI_GUARDED_BY(mutex_);   // theirs, in the same order
  uint64_t held_ SOCI_GUARDED_BY(mutex_) = 0;
  uint64_t whole_ SOCI_GUARDED_BY(mutex_) = 0;
  uint64_t evictions_ SOCI_GUARDED_BY(mutex_) = 0;
  uint64_t refusals_ SOCI_GUARDED_BY(mutex_) = 0;
};

}  // namespace soci
