// One range request of a layer: neighbouring spans, handed on one by one as their bytes come.
//
// Started, paused and cancelled by the scheduler; fed by the source's thread. The fields below the line belong to the
// scheduler's mutex.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "fuse/fetch/range_assembler.h"
#include "indexer/base/byte_source.h"
#include "indexer/base/clock.h"
#include "indexer/base/fetch_context.h"
#include "indexer/base/ranges.h"

namespace soci {

class SpanFetcher;

class RangeTransfer final : public ByteSink, public std::enable_shared_from_this<RangeTransfer> {
 public:
  RangeTransfer(SpanFetcher& fetcher, std::vector<SpanId> spans, std::vector<CompressedRange> ranges,
                FetchClass fetch_class, std::chrono::milliseconds budget);

  // Asks the source; a local one has fed everything when this returns. The fetcher is held meanwhile.
  void Start(const ByteSource& source);
  void SetPaused(bool paused);
  void Cancel();

  Status OnBytes(ByteSpan bytes) override;
  void OnEnd(Status status) override;

  const std::vector<SpanId>& spans() const { return spans_; }
  // As it was when the transfer began.
  FetchClass fetch_class() const { return fetch_class_; }
  // Of its range, so far. Any thread.
  uint64_t received() const { return received_; }
  // When the first of them came. The source's thread.
  std::optional<Clock::TimePoint> first_byte_at() const { return first_byte_at_; }
  uint64_t first_piece() const { return first_piece_; }  // the bytes that came then

  // --- guarded by the scheduler's mutex ---
  size_t delivered = 0;                        // spans handed on
  bool paused = false;                         // as last told
  bool hedged = false;                         // a second one is on its way for the same spans
  bool stood_still = false;                    // was ever paused
  std::optional<Clock::TimePoint> started_at;  // when the source was asked
  bool cancel_wanted = false;
  bool cancel_sent = false;
  std::shared_ptr<Transfer> handle;  // once the source has taken it

 private:
  void Deliver(size_t index, CompressedBytes bytes);

  SpanFetcher& fetcher_;
  const std::vector<SpanId> spans_;
  const FetchClass fetch_class_;
  const std::chrono::milliseconds budget_;
  std::stop_source stop_;
  std::atomic<uint64_t> received_{0};
  RangeAssembler assembler_;  // the source's thread
  std::optional<Clock::TimePoint> first_byte_at_;
  uint64_t first_piece_ = 0;
};

}  // namespace soci
