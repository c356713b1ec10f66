// The second half of a span's way: what transfers bring, decoding, writing behind; and fill, which all of it feeds.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuse/fetch/span_fetcher.h"
#include "fuse/fetch/verified_decode.h"
#include "indexer/base/log.h"

namespace soci {
namespace {

void RunAll(const std::vector<std::function<void()>>& tasks) {
  for (const std::function<void()>& task : tasks) task();
}

}  // namespace

// What its transfers bring.

void SpanFetcher::TransferAsked(RangeTransfer& transfer) {
  MutexLock lock(mutex_);
  transfer.started_at = Now();
}

void SpanFetcher::TransferStarted(RangeTransfer& transfer, std::shared_ptr<Transfer> handle) {
  MutexLock lock(mutex_);
  transfer.handle = std::move(handle);
  scheduler_.Signal();
}

std::shared_ptr<Transfer> SpanFetcher::HandleOf(const RangeTransfer& transfer) const {
  MutexLock lock(mutex_);
  return transfer.handle;
}

void SpanFetcher::SpanArrived(RangeTransfer& transfer, size_t index, CompressedBytes bytes) {
  MutexLock lock(mutex_);
  SpanId span = transfer.spans()[index];
  transfer.delivered = index + 1;
  scheduler_.Signal();
  if (closing_) return;
  Flight* flight = flights_.Find(span);
  if (!flight || !flight->IsWantedFromTheNetwork()) {
    scheduler_.counters().bytes_twice += bytes.size;
    return CancelIfIdle(transfer);
  }
  const bool raced = flight->carriers.size() != 1 || !flight->IsCarriedBy(transfer);
  SpanJob job{this, span, flight->fetch_class, bytes.size, DecodedSize(span)};
  scheduler_.counters().Arrived(flight->fetch_class, bytes.size);
  flight->compressed = std::move(bytes);
  flights_.SetState(span, Flight::State::kDecoding);
  fill_failures_ = 0;
  Hold();  // until DecodeSpan is done
  scheduler_.PushDecode(job);
  if (!raced) return CancelIfIdle(transfer);
  for (const std::shared_ptr<RangeTransfer>& each : transfers_) CancelIfIdle(*each);
}

// What nobody needs any more, unless it is over sooner than a connection is made anew.
void SpanFetcher::CancelIfIdle(RangeTransfer& transfer) {
  if (transfer.cancel_wanted || transfer.delivered == transfer.spans().size() || IsCarrier(transfer)) return;
  const uint64_t left =
      ApproachTo(transfer.spans().back(), transfer).ahead + table_->Extent(transfer.spans().back()).compressed.size();
  if (left > host_state_.link.RoundTripBytes()) transfer.cancel_wanted = true;
}

void SpanFetcher::TransferEnded(RangeTransfer& transfer, Status status) {
  Answers answers;
  {
    MutexLock lock(mutex_);
    if (status.ok()) status = absl::UnavailableError("the source ended early");
    const bool failed = !closing_ && !transfer.cancel_wanted && transfer.delivered < transfer.spans().size();
    if (failed) scheduler_.counters().Failed(FaultOf(status));
    if (transfer.delivered == transfer.spans().size()) NoteTimes(transfer);
    for (size_t i = transfer.delivered; i < transfer.spans().size(); ++i) {
      Uncarried(transfer.spans()[i], transfer, status, answers);
    }
    auto self = std::find_if(transfers_.begin(), transfers_.end(), [&](const auto& t) { return t.get() == &transfer; });
    transfers_.erase(self);
    scheduler_.Signal();
  }
  RunAll(answers);
  MutexLock lock(mutex_);
  Release();
}

void SpanFetcher::Uncarried(SpanId span, const RangeTransfer& transfer, const Status& status, Answers& answers) {
  Flight* flight = flights_.Find(span);
  if (!flight || std::erase(flight->carriers, &transfer) == 0 || !flight->carriers.empty()) return;
  FetchFailed(span, status, transfer.cancel_wanted, answers);
}

// Whoever shares the link or stands still says nothing about it.
void SpanFetcher::NoteTimes(const RangeTransfer& transfer) {
  const std::optional<Clock::TimePoint> first_byte = transfer.first_byte_at();
  if (transfer.fetch_class() != FetchClass::kDemand || transfer.stood_still || !first_byte || !transfer.started_at) {
    return;
  }
  const uint64_t rest = transfer.received() - transfer.first_piece();
  if (rest > 0) host_state_.link.Note({*first_byte - *transfer.started_at, Now() - *first_byte, rest});
}

void SpanFetcher::FetchFailed(SpanId span, const Status& status, bool cancelled, Answers& answers) {
  if (closing_) return;
  Flight* flight = flights_.Find(span);
  if (flight->waiters.empty()) {
    flights_.Erase(span);
    fill_.Reconsider();
    if (!cancelled) BackOffFill(status);
  } else if (cancelled) {
    // Fill was stopped; who joined it meanwhile still wants the span.
    flights_.SetState(span, Flight::State::kQueued);
  } else if (IsWorthRetrying(status)) {
    flight->last_error = status;
    const std::chrono::milliseconds delay = RetryDelay(++flight->failures, true);
    log::Debug("{}; next try in {} ms", Message(Annotate(status, Where(span))), delay.count());
    flight->retry_at = scheduler_.clock().Now() + delay;
    flights_.SetState(span, Flight::State::kBackingOff);
    next_due_ = std::min(next_due_, flight->retry_at);
  } else {
    Fail(span, status, answers);
  }
}

// Decoding.

void SpanFetcher::DecodeDropped(SpanId span) {
  mutex_.AssertHeld();
  flights_.Find(span)->compressed = {};
  if (!closing_) flights_.Erase(span);
  fill_.Reconsider();
  Release();
}

void SpanFetcher::DecodeSpan(SpanId span) {
  CompressedBytes compressed;
  {
    MutexLock lock(mutex_);
    compressed = std::move(flights_.Find(span)->compressed);
  }
  if (!MatchesDigest(*table_, span, compressed.view())) {
    DecodedTorn(span);
  } else {
    Result<std::shared_ptr<const SpanBuffer>> decoded = DecodeMatching(*table_, decoder_, span, compressed.view());
    compressed = {};
    Status checked = decoded.ok() ? store_.CheckSpan(span, (*decoded)->view()) : decoded.status();
    // What the store finds out it tells itself.
    if (absl::IsDataLoss(decoded.status())) log::Error("the index of this layer is false: {}", Message(checked));
    checked.ok() ? DecodedWell(span, std::move(*decoded)) : DecodedBadly(span, checked);
  }
  MutexLock lock(mutex_);
  scheduler_.Signal();
  Release();
}

void SpanFetcher::DecodedWell(SpanId span, std::shared_ptr<const SpanBuffer> buffer) {
  std::vector<Waiter> waiters;
  {
    MutexLock lock(mutex_);
    Flight* flight = flights_.Find(span);
    flight->buffer = buffer;
    flights_.SetState(span, Flight::State::kInMemory);
    waiters.swap(flight->waiters);
  }
  for (Waiter& waiter : waiters) waiter.done(buffer);
  buffer.reset();

  MutexLock lock(mutex_);
  Flight* flight = flights_.Find(span);
  if (closing_) return scheduler_.FreeDecoded(DecodedSize(span));
  Hold();  // until WriteSpan is done
  scheduler_.PushWrite({this, span, flight->fetch_class, 0, DecodedSize(span)});
}

void SpanFetcher::DecodedTorn(SpanId span) {
  Answers answers;
  {
    MutexLock lock(mutex_);
    scheduler_.FreeDecoded(DecodedSize(span));
    if (closing_) return;
    Flight* flight = flights_.Find(span);
    int torn = ++flight->torn;
    scheduler_.counters().Failed(FetchFault::kDigest);
    log::Warning("{}: the bytes do not match their digest (attempt {} of {})", Where(span), torn,
                 options_.verify_attempts);
    if (flight->waiters.empty() && fill_state_ != FillState::kRunning) return flights_.Erase(span);
    if (torn < options_.verify_attempts) {
      flight->last_error = absl::DataLossError("the bytes do not match their digest");
      flights_.SetState(span, Flight::State::kQueued);
      return;
    }
    fill_.Delay(span, scheduler_.clock().Now() + std::chrono::minutes(1));
    Fail(span, absl::DataLossError(fmt::format("{} times its bytes did not match their digest", torn)), answers);
  }
  RunAll(answers);
}

void SpanFetcher::DecodedBadly(SpanId span, const Status& status) {
  Answers answers;
  {
    MutexLock lock(mutex_);
    scheduler_.FreeDecoded(DecodedSize(span));
    if (closing_) return;
    if (status.code() == absl::StatusCode::kDataLoss) {
      Condemn(Annotate(status, Where(span)));
    } else {
      BackOffFill(status);
    }
    Fail(span, status, answers);
  }
  RunAll(answers);
}

void SpanFetcher::Condemn(const Status& status) {
  if (!condemned_.ok()) return;
  condemned_ = status;
  scheduler_.counters().Failed(FetchFault::kFalseIndex);
  if (fill_state_ == FillState::kRunning) fill_state_ = FillState::kStopped;
  CancelUnwanted();
}

// Writing behind.

void SpanFetcher::WriteDropped(SpanId span) {
  mutex_.AssertHeld();
  flights_.Erase(span);
  fill_.Reconsider();
  Release();
}

void SpanFetcher::WriteSpan(SpanId span) {
  std::shared_ptr<const SpanBuffer> buffer;
  {
    MutexLock lock(mutex_);
    buffer = flights_.Find(span)->buffer;
  }
  Status written = store_.WriteSpan(span, buffer->view());
  buffer.reset();

  std::function<void()> complete;
  {
    MutexLock lock(mutex_);
    scheduler_.FreeDecoded(DecodedSize(span));
    if (flights_.Find(span)->fetch_class == FetchClass::kDemand) store_.NoteRead(span);
    flights_.Erase(span);
    if (written.ok()) {
      complete = TakeComplete();
    } else {
      fill_.Reconsider();
      if (written.code() == absl::StatusCode::kDataLoss) {
        Condemn(Annotate(written, Where(span)));
      } else {
        scheduler_.counters().Failed(FetchFault::kDisk);
        BackOffFill(Annotate(written, "writing"));
      }
    }
    scheduler_.Signal();
  }
  if (complete) complete();
  MutexLock lock(mutex_);
  Release();
}

// Fill.

LayerFetcher::FillState SpanFetcher::fill_state() const {
  MutexLock lock(mutex_);
  return fill_state_;
}

void SpanFetcher::StartFill(std::function<void()> complete) {
  MutexLock lock(mutex_);
  Status fillable = condemned_;
  for (uint32_t i = 0; fillable.ok() && i < table_->span_count(); ++i) fillable = CheckAskable(SpanId{i});
  if (closing_ || !fillable.ok()) {
    log::Error("{} will not be filled: {}", table_->layer().ToString(), Message(fillable));
    fill_state_ = FillState::kStopped;
    return;
  }
  fill_state_ = FillState::kRunning;
  fill_complete_ = std::move(complete);
  fill_not_before_ = {};
  fill_.Reconsider();
  if (std::function<void()> already = TakeComplete()) scheduler_.PostIo(Held(std::move(already)));
  scheduler_.Signal();
}

std::function<void()> SpanFetcher::TakeComplete() {
  if (fill_state_ != FillState::kRunning || store_.NextMissing(SpanId{0})) return nullptr;
  fill_state_ = FillState::kComplete;
  return std::exchange(fill_complete_, nullptr);
}

void SpanFetcher::StopFill() {
  MutexLock lock(mutex_);
  if (fill_state_ != FillState::kComplete) fill_state_ = FillState::kStopped;
  CancelUnwanted();
  scheduler_.Signal();
}

// Ends everything that nobody waits for.
void SpanFetcher::CancelUnwanted() {
  auto unwanted = [this](SpanId span) SOCI_NO_THREAD_SAFETY_ANALYSIS {
    Flight* flight = flights_.Find(span);
    return flight && flight->waiters.empty();
  };
  for (const std::shared_ptr<RangeTransfer>& transfer : transfers_) {
    auto not_for_this = [&](SpanId span) SOCI_NO_THREAD_SAFETY_ANALYSIS {
      Flight* flight = flights_.Find(span);
      return !flight || flight->waiters.empty() || !flight->IsCarriedBy(*transfer);
    };
    auto rest = transfer->spans().begin() + static_cast<std::ptrdiff_t>(transfer->delivered);
    transfer->cancel_wanted = transfer->cancel_wanted || std::all_of(rest, transfer->spans().end(), not_for_this);
  }
  scheduler_.DropJobs(*this, [&](const SpanJob& job) { return job.compressed > 0 && unwanted(job.span); });
  std::vector<SpanId> queued;
  for (const auto& [span, flight] : flights_.all()) {
    if (flight.state == Flight::State::kQueued && flight.waiters.empty()) queued.push_back(span);
  }
  for (SpanId span : queued) flights_.Erase(span);
}

bool SpanFetcher::FillWants(Clock::TimePoint now) {
  return fill_state_ == FillState::kRunning && now >= fill_not_before_ && fill_.Next(now).has_value();
}

void SpanFetcher::BackOffFill(const Status& status) {
  Clock::TimePoint now = scheduler_.clock().Now();
  // Many transfers fail at once when the network does; that is one failure.
  if (fill_state_ != FillState::kRunning || now < fill_not_before_) return;
  std::chrono::milliseconds delay = RetryDelay(++fill_failures_, false);
  fill_not_before_ = now + delay;
  log::Warning("filling {} pauses for {} ms: {}", table_->layer().ToString(), delay.count(), Message(status));
}

}  // namespace soci
