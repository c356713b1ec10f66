#include "fuse/fetch/range_transfer.h"

#include <utility>

#include "fuse/fetch/span_fetcher.h"

namespace soci {

RangeTransfer::RangeTransfer(SpanFetcher& fetcher, std::vector<SpanId> spans, std::vector<CompressedRange> ranges,
                             FetchClass fetch_class, std::chrono::milliseconds budget)
    : fetcher_(fetcher),
      spans_(std::move(spans)),
      fetch_class_(fetch_class),
      budget_(budget),
      assembler_(std::move(ranges)) {}

void RangeTransfer::Start(const ByteSource& source) {
  if (stop_.stop_requested()) return OnEnd(absl::CancelledError("cancelled before it began"));
  FetchContext context;
  context.fetch_class = fetch_class_;
  context.budget = budget_;
  context.stop = stop_.get_token();
  context.asker_retries = true;
  CompressedRange range = assembler_.range();
  fetcher_.TransferAsked(*this);
  std::shared_ptr<Transfer> started = source.StartRead(range.begin, range.size(), context, shared_from_this());
  if (started) fetcher_.TransferStarted(*this, std::move(started));
  // A cancellation that came before the handle was there.
  if (stop_.stop_requested()) Cancel();
}

void RangeTransfer::SetPaused(bool pause) {
  if (std::shared_ptr<Transfer> transfer = fetcher_.HandleOf(*this)) pause ? transfer->Pause() : transfer->Resume();
}

void RangeTransfer::Cancel() {
  stop_.request_stop();
  if (std::shared_ptr<Transfer> transfer = fetcher_.HandleOf(*this)) transfer->Cancel();
}

Status RangeTransfer::OnBytes(ByteSpan bytes) {
  if (stop_.stop_requested()) return absl::CancelledError("not wanted any more");
  if (!first_byte_at_) {
    first_byte_at_ = fetcher_.Now();
    first_piece_ = bytes.size();
  }
  received_ += bytes.size();
  fetcher_.CountBytes(bytes.size());
  return assembler_.Push(bytes, [this](size_t index, CompressedBytes done) { Deliver(index, std::move(done)); });
}

void RangeTransfer::OnEnd(Status status) {
  if (status.ok()) {
    // A span without bytes is complete although none came.
    (void)assembler_.Push({}, [this](size_t index, CompressedBytes done) { Deliver(index, std::move(done)); });
  }
  fetcher_.TransferEnded(*this, std::move(status));
}

void RangeTransfer::Deliver(size_t index, CompressedBytes bytes) {
  fetcher_.SpanArrived(*this, index, std::move(bytes));
}

}  // namespace soci
