// The second request for what the first brings too slowly.
#include <algorithm>
#include <utility>

#include "fuse/fetch/span_fetcher.h"

namespace soci {

// None for what must not be hedged: someone waits for it, it was always free to flow, and it is not nearly over.
std::optional<Clock::TimePoint> SpanFetcher::HedgeAt(const RangeTransfer& transfer) const {
  if (transfer.fetch_class() != FetchClass::kDemand || transfer.hedged || transfer.stood_still ||
      transfer.cancel_wanted || !transfer.handle || !transfer.started_at || ClassOf(transfer) != FetchClass::kDemand) {
    return std::nullopt;
  }
  const LinkEstimate& link = host_state_.link;
  std::optional<Clock::TimePoint::duration> patience = link.SlowFirstByte();
  if (const uint64_t received = transfer.received(); received > 0) {
    const uint64_t size = table_->Extent(transfer.spans().back()).compressed.end -
                          table_->Extent(transfer.spans().front()).compressed.begin;
    if (size - received <= link.RoundTripBytes()) return std::nullopt;
    patience = link.SlowTransfer(size);
  }
  if (!patience) return std::nullopt;
  return *transfer.started_at + *patience;
}

void SpanFetcher::HedgeSlow(Clock::TimePoint now, std::vector<std::function<void()>>& actions) {
  mutex_.AssertHeld();
  if (closing_) return;
  for (const std::shared_ptr<RangeTransfer>& transfer : transfers_) {
    const std::optional<Clock::TimePoint> slow_at = HedgeAt(*transfer);
    if (!slow_at || *slow_at > now || !host_state_.hedges.Take()) continue;
    transfer->hedged = true;
    actions.push_back(Held([this, transfer] { Hedge(*transfer); }));
  }
}

void SpanFetcher::Hedge(RangeTransfer& slow) {
  if (HandleOf(slow)->IsToldToWait()) return;
  std::shared_ptr<RangeTransfer> hedge;
  std::function<void()> start;
  {
    MutexLock lock(mutex_);
    hedge = closing_ ? nullptr : MakeHedge(slow);
    if (!hedge) return;
    start = Held([this, hedge] { hedge->Start(source_); });
  }
  scheduler_.PostIo(std::move(start));
}

// The spans that someone still waits for, up to the last of them.
std::shared_ptr<RangeTransfer> SpanFetcher::MakeHedge(RangeTransfer& slow) {
  std::vector<SpanId> spans;
  size_t demanded = 0;
  for (size_t i = slow.delivered; i < slow.spans().size(); ++i) {
    Flight* flight = flights_.Find(slow.spans()[i]);
    if (!flight || !flight->IsCarriedBy(slow)) break;
    spans.push_back(slow.spans()[i]);
    if (flight->fetch_class == FetchClass::kDemand) demanded = spans.size();
  }
  spans.resize(demanded);
  if (spans.empty()) return nullptr;
  auto hedge = std::make_shared<RangeTransfer>(*this, spans, flights_.CompressedRanges(spans), FetchClass::kDemand,
                                               BudgetOf(spans, Now()));
  for (SpanId span : spans) flights_.Find(span)->carriers.push_back(hedge.get());
  hedge->hedged = true;  // once is enough
  transfers_.push_back(hedge);
  Hold();  // until TransferEnded
  ++scheduler_.counters().hedges;
  scheduler_.Signal();
  return hedge;
}

}  // namespace soci
