// Gets spans of one layer: at most one fetch per span however many ask, neighbours in one range, verified, decoded,
// checked, handed out from memory, then written behind.
//
// All layers share one FetchScheduler, which owns the connections, the decode pool and the order of classes. Any
// thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fuse/fetch/span_buffer.h"
#include "indexer/base/fetch_context.h"
#include "indexer/base/ranges.h"
#include "indexer/base/result.h"

namespace soci {

class LayerFetcher {
 public:
  using Callback = std::function<void(Result<std::shared_ptr<const SpanBuffer>>)>;

  // Where fill stands. kStopped: asked to, or the layer went bad.
  enum class FillState { kIdle, kRunning, kComplete, kStopped };

  // Cancels what is under way (kCancelled for who waits) and waits until no callback can come any more; so never from
  // within one.
  virtual ~LayerFetcher() = default;

  // Calls back exactly once: on this thread if the span is in memory, else from a decode thread. Never blocks.
  // kAlreadyExists if the span lies in the store (it was written meanwhile): read it there. kDataLoss if the origin
  // keeps sending bytes that do not match; kUnavailable or kDeadlineExceeded after the retry budget.
  virtual void Get(SpanId span, FetchClass fetch_class, Callback done) = 0;

  // Fetches these as replay, neighbours together, in this order otherwise. `due`: their place in the record; what has
  // the lowest goes first, in whatever layer, and of two images the one that is less far in its record. Called back
  // once for each as by Get: ok, or kAlreadyExists, or why it did not come (kFailedPrecondition: the store could not
  // keep it); some perhaps at once on this thread. Never blocks.
  using Arrived = std::function<void(SpanId, const Status&)>;
  virtual void Replay(const std::vector<SpanId>& spans, int64_t /*due*/, const Arrived& arrived) {
    for (const SpanId span : spans) {
      Get(span, FetchClass::kReplay, [arrived, span](const auto& got) { arrived(span, got.status()); });
    }
  }

  // Fetches these as read-ahead if they are not here or under way already, as far as the store can keep them. Nobody
  // hears how it went; never blocks.
  virtual void Foresee(const std::vector<SpanId>& spans) = 0;

  // Fetches everything that is missing, yielding to the classes before it. `complete` is called once, from some thread,
  // when the last span was written.
  virtual void StartFill(std::function<void()> complete) = 0;
  virtual void StopFill() = 0;
  virtual FillState fill_state() const = 0;
};

}  // namespace soci
