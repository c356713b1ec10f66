// One range request of a layer: neighbouring spans, handed on one by one as their bytes come.
//
// Started, paused and cancelled by the scheduler; fed by the source's thread. The fields below the line belong to the
// scheduler's mutex.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "fuse/fetch/range_assembler.h"
#include "indexer/base/byte_source.h"
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

  // --- guarded by the scheduler's mutex ---
  size_t delivered = 0;  // spans handed on
  bool paused = false;   // as last told
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
  RangeAssembler assembler_;  // the source's thread
};

}  // namespace soci
