// Spans of one layer that must not be evicted, because somebody is about to read them and has lost them before. Any
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "indexer/base/mutex.h"
#include "indexer/base/ranges.h"

namespace soci {

class SpanPins : public std::enable_shared_from_this<SpanPins> {
 public:
  // Pinned until the last copy goes, which may be after the layer.
  std::shared_ptr<const void> Pin(SpanId span) {
    {
      MutexLock lock(mutex_);
      ++pins_[span];
    }
    return {nullptr, [self = shared_from_this(), span](const void*) { self->Unpin(span); }};
  }

  // Calls `act` if the span is not pinned; whoever pins it meanwhile waits. It must be quick.
  template <typename Act>
  bool IfUnpinned(SpanId span, const Act& act) {
    MutexLock lock(mutex_);
    if (pins_.count(span) > 0) return false;
    act();
    return true;
  }

 private:
  void Unpin(SpanId span) {
    MutexLock lock(mutex_);
    const auto found = pins_.find(span);
    if (--found->second == 0) pins_.erase(found);
  }

  Mutex mutex_;  // before that of the store's records
  std::map<SpanId, uint32_t> pins_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
