#include "fuse/fetch/span_fetcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "indexer/base/log.h"

namespace soci {
namespace {

// A transfer without anyone waiting may take long: it stands still whenever demand waits.
constexpr std::chrono::minutes kUnhurried{10};

void RunAll(const std::vector<std::function<void()>>& tasks) {
  for (const std::function<void()>& task : tasks) task();
}

}  // namespace

std::unique_ptr<LayerFetcher> MakeLayerFetcher(FetchScheduler& scheduler, std::shared_ptr<const LayerTable> table,
                                               const ByteSource& source, BackingStore& store,
                                               LayerFetcherOptions options) {
  return std::make_unique<SpanFetcher>(scheduler, std::move(table), source, store, std::move(options));
}

SpanFetcher::SpanFetcher(FetchScheduler& scheduler, std::shared_ptr<const LayerTable> table, const ByteSource& source,
                         BackingStore& store, LayerFetcherOptions options)
    : scheduler_(scheduler),
      table_(std::move(table)),
      source_(source),
      store_(store),
      options_(std::move(options)),
      decoder_(options_.decoder ? *options_.decoder : DecoderFor(table_->compression())),
      mutex_(scheduler.mutex()),
      host_state_(scheduler.FindHost(options_.host)),
      flights_(*table_),
      fill_(*table_, store_, flights_, options_.fill_near) {
  MutexLock lock(mutex_);
  scheduler_.Attach(*this);
}

SpanFetcher::~SpanFetcher() {
  Answers answers;
  {
    MutexLock lock(mutex_);
    closing_ = true;
    fill_state_ = FillState::kStopped;
    scheduler_.DropJobs(*this, [](const SpanJob&) { return true; });
    for (const std::shared_ptr<RangeTransfer>& transfer : transfers_) transfer->cancel_wanted = true;
    for (auto& [span, flight] : flights_.all()) {
      for (Waiter& waiter : flight.waiters) {
        answers.push_back([done = std::move(waiter.done), where = Where(span)] {
          done(absl::CancelledError(where + ": the layer goes away"));
        });
      }
      flight.waiters.clear();
    }
    scheduler_.Signal();
  }
  RunAll(answers);
  MutexLock lock(mutex_);
  while (holds_ > 0) scheduler_.Await(released_);
  scheduler_.Detach(*this);
}

std::string SpanFetcher::Where(SpanId span) const {
  return fmt::format("reading span {} of {}", soci::ToIndex(span), table_->layer().ToString());
}

void SpanFetcher::Release() {
  if (--holds_ == 0) released_.NotifyAll();
}

std::function<void()> SpanFetcher::Held(std::function<void()> task) {
  mutex_.AssertHeld();
  Hold();
  return [this, task = std::move(task)] {
    task();
    MutexLock lock(mutex_);
    Release();
  };
}

// Asking.

void SpanFetcher::Get(SpanId span, FetchClass fetch_class, Callback done) {
  std::optional<Result<std::shared_ptr<const SpanBuffer>>> answer;
  {
    MutexLock lock(mutex_);
    answer = AnswerOrJoin(span, fetch_class, FlightOrder::kNotDue, done);
  }
  if (answer) done(std::move(*answer));
}

Status SpanFetcher::CheckAskable(SpanId span) const {
  if (closing_) return absl::CancelledError("the layer goes away");
  if (soci::ToIndex(span) >= table_->span_count()) return absl::InvalidArgumentError("there is no such span");
  SOCI_RETURN_IF_ERROR(condemned_);
  SpanExtent extent = table_->Extent(span);
  uint64_t size = std::max(extent.compressed.size(), extent.uncompressed.size());
  if (size > options_.largest_span) {
    return absl::InvalidArgumentError(fmt::format("it has {} bytes, more than {}", size, options_.largest_span));
  }
  return OkStatus();
}

std::optional<Result<std::shared_ptr<const SpanBuffer>>> SpanFetcher::AnswerOrJoin(SpanId span, FetchClass fetch_class,
                                                                                   int64_t due, Callback& done) {
  Status askable = CheckAskable(span);
  if (!askable.ok()) return Annotate(askable, Where(span));
  Flight* flight = flights_.Find(span);
  if (flight && flight->state == Flight::State::kInMemory) {
    flights_.Raise(span, fetch_class);  // for who asks whether anybody has read it
    return flight->buffer;
  }
  if (!flight) {
    if (store_.IsPresent(span)) return absl::AlreadyExistsError(Where(span) + ": it is in the store");
    flight = &flights_.Add(span, fetch_class, {due, scheduler_.NextOrder()}, Flight::State::kQueued);
    if (fetch_class == FetchClass::kDemand) {
      last_miss_ = flight->order.order;
      fill_.MoveTo(span, scheduler_.clock().Now());
      ++scheduler_.counters().demand_misses;
    }
  } else if (fetch_class == FetchClass::kDemand) {
    ++scheduler_.counters().demand_joins;
  }
  const bool more_urgent = fetch_class < flight->fetch_class;
  flights_.Raise(span, fetch_class, due);
  if (more_urgent && flight->state == Flight::State::kDecoding) scheduler_.RaiseDecode(*this, span, fetch_class);
  if (fetch_class == FetchClass::kDemand) OvertakeIfFar(span, *flight);
  Clock::TimePoint deadline = scheduler_.clock().Now() + options_.budget;
  flight->waiters.push_back({std::move(done), deadline});
  next_due_ = std::min(next_due_, deadline);
  scheduler_.Signal();
  return std::nullopt;
}

// Whoever waits need not wait for the range that happens to have the span in it.
void SpanFetcher::OvertakeIfFar(SpanId span, const Flight& flight) {
  if (flight.state != Flight::State::kFetching || flight.carriers.size() != 1) return;
  const uint64_t round_trip = host_state_.link.RoundTripBytes();
  if (!IsSoonerAlone(ApproachTo(span, *flight.carriers.front()), round_trip)) return;
  flights_.SetState(span, Flight::State::kQueued);
  ++scheduler_.counters().overtaken;
}

Approach SpanFetcher::ApproachTo(SpanId span, const RangeTransfer& transfer) const {
  const CompressedRange wanted = table_->Extent(span).compressed;
  const uint64_t received = transfer.received();
  const uint64_t position = table_->Extent(transfer.spans().front()).compressed.begin + received;
  return {
      .ahead = wanted.begin > position ? wanted.begin - position : 0, .span = wanted.size(), .flowing = received > 0};
}

void SpanFetcher::Replay(const std::vector<SpanId>& spans, int64_t due, const Arrived& arrived) {
  std::vector<std::pair<SpanId, Status>> answers;
  {
    // All under one lock, so that neighbours find each other before the first of them starts.
    MutexLock lock(mutex_);
    uint64_t room = RoomAhead();
    for (const SpanId span : spans) {
      if (!TakesRoom(span, room)) {
        answers.emplace_back(span, absl::FailedPreconditionError(Where(span) + ": there is no room to keep it"));
        continue;
      }
      Callback done = [arrived, span](const auto& got) { arrived(span, got.status()); };
      if (auto answer = AnswerOrJoin(span, FetchClass::kReplay, due, done))
        answers.emplace_back(span, answer->status());
    }
  }
  for (const auto& [span, status] : answers) arrived(span, status);
}

void SpanFetcher::Foresee(const std::vector<SpanId>& spans) {
  MutexLock lock(mutex_);
  uint64_t room = RoomAhead();
  for (SpanId span : spans) {
    if (!CheckAskable(span).ok()) continue;
    if (flights_.Find(span)) {
      flights_.Raise(span, FetchClass::kReadAhead);
    } else if (!store_.IsPresent(span)) {
      if (!TakesRoom(span, room)) break;
      flights_.Add(span, FetchClass::kReadAhead, {.order = scheduler_.NextOrder()}, Flight::State::kQueued);
    }
  }
  scheduler_.Signal();
}

// What the store could keep of spans that nobody waits for, less those that are on their way.
uint64_t SpanFetcher::RoomAhead() const {
  uint64_t room = store_.RoomAhead();
  if (room == ~uint64_t{0}) return room;
  for (const auto& [span, flight] : flights_.all()) {
    if (flight.fetch_class != FetchClass::kDemand) room -= std::min(room, DecodedSize(span));
  }
  return room;
}

// False if it has to be fetched and there is no room; else its room is taken.
bool SpanFetcher::TakesRoom(SpanId span, uint64_t& room) {
  if (room == ~uint64_t{0} || flights_.Find(span) != nullptr || store_.IsPresent(span)) return true;
  if (soci::ToIndex(span) >= table_->span_count()) return true;  // refused elsewhere
  if (DecodedSize(span) > room) return false;
  room -= DecodedSize(span);
  return true;
}

void SpanFetcher::Fail(SpanId span, const Status& status, Answers& answers) {
  Flight* flight = flights_.Find(span);
  for (Waiter& waiter : flight->waiters) {
    answers.push_back([done = std::move(waiter.done), status = Annotate(status, Where(span))] { done(status); });
  }
  flights_.Erase(span);
  fill_.Reconsider();
}

// What the scheduler asks.

const std::vector<std::shared_ptr<RangeTransfer>>& SpanFetcher::transfers() const {
  mutex_.AssertHeld();
  return transfers_;
}

bool SpanFetcher::DemandWaits() const {
  mutex_.AssertHeld();
  if (closing_) return false;
  if (flights_.HasQueued(FetchClass::kDemand)) return true;
  for (const std::shared_ptr<RangeTransfer>& transfer : transfers_) {
    if (!transfer->cancel_wanted && ClassOf(*transfer) == FetchClass::kDemand) return true;
  }
  return false;
}

FetchClass SpanFetcher::ClassOf(const RangeTransfer& transfer) const {
  mutex_.AssertHeld();
  FetchClass most_urgent = FetchClass::kFill;
  for (size_t i = transfer.delivered; i < transfer.spans().size(); ++i) {
    auto flight = flights_.all().find(transfer.spans()[i]);
    if (flight == flights_.all().end() || !flight->second.IsCarriedBy(transfer)) continue;
    most_urgent = std::min(most_urgent, flight->second.fetch_class);
  }
  return most_urgent;
}

bool SpanFetcher::IsCarrier(const RangeTransfer& transfer) const {
  auto carried = [&](SpanId span) SOCI_NO_THREAD_SAFETY_ANALYSIS {
    auto flight = flights_.all().find(span);
    return flight != flights_.all().end() && flight->second.IsCarriedBy(transfer);
  };
  auto rest = transfer.spans().begin() + static_cast<std::ptrdiff_t>(transfer.delivered);
  return std::any_of(rest, transfer.spans().end(), carried);
}

bool SpanFetcher::Wants(FetchClass fetch_class, Clock::TimePoint now) {
  mutex_.AssertHeld();
  if (closing_) return false;
  if (flights_.HasQueued(fetch_class)) return true;
  return fetch_class == FetchClass::kFill && FillWants(now);
}

FlightOrder SpanFetcher::FirstWanted(FetchClass fetch_class) const {
  mutex_.AssertHeld();
  if (flights_.HasQueued(fetch_class)) return flights_.FirstQueued(fetch_class);
  // Fill without a queue is after every fill that has one; the layer that was read last comes first.
  return {.order = ~uint64_t{0} - last_miss_};
}

size_t SpanFetcher::RunningOf(FetchClass fetch_class) const {
  mutex_.AssertHeld();
  size_t running = 0;
  for (const std::shared_ptr<RangeTransfer>& transfer : transfers_) running += ClassOf(*transfer) == fetch_class;
  return running;
}

uint64_t SpanFetcher::last_fill() const {
  mutex_.AssertHeld();
  return last_fill_;
}

std::shared_ptr<RangeTransfer> SpanFetcher::StartRange(FetchClass fetch_class, Clock::TimePoint now) {
  mutex_.AssertHeld();
  std::vector<SpanId> spans;
  if (flights_.HasQueued(fetch_class)) {
    spans = flights_.TakeRange(fetch_class, options_.wanted_range);
  } else {
    spans = fill_.NextRange(now, options_.fill_range);
    for (SpanId span : spans) {
      flights_.Add(span, FetchClass::kFill, {.order = scheduler_.NextOrder()}, Flight::State::kFetching);
    }
  }
  auto transfer = std::make_shared<RangeTransfer>(*this, spans, flights_.CompressedRanges(spans), fetch_class,
                                                  BudgetOf(spans, now));
  for (SpanId span : spans) flights_.Find(span)->carriers = {transfer.get()};
  if (fetch_class == FetchClass::kDemand) host_state_.hedges.NoteRequest();
  if (fetch_class == FetchClass::kFill) last_fill_ = scheduler_.NextOrder();
  transfers_.push_back(transfer);
  Hold();  // until TransferEnded
  return transfer;
}

std::chrono::milliseconds SpanFetcher::BudgetOf(const std::vector<SpanId>& spans, Clock::TimePoint now) const {
  std::chrono::milliseconds budget(0);
  for (SpanId span : spans) {
    for (const Waiter& waiter : flights_.all().at(span).waiters) {
      budget = std::max(budget, std::chrono::ceil<std::chrono::milliseconds>(waiter.deadline - now));
    }
  }
  return budget > std::chrono::milliseconds(0) ? budget : kUnhurried;
}

void SpanFetcher::Expire(Clock::TimePoint now, std::vector<std::function<void()>>& actions) {
  mutex_.AssertHeld();
  if (now < next_due_) return;
  next_due_ = Clock::TimePoint::max();
  std::vector<SpanId> abandoned;
  for (auto& [span, flight] : flights_.all()) {
    auto late = std::stable_partition(flight.waiters.begin(), flight.waiters.end(),
                                      [&](const Waiter& waiter) { return waiter.deadline > now; });
    for (auto waiter = late; waiter != flight.waiters.end(); ++waiter) {
      Status status = absl::DeadlineExceededError(
          fmt::format("{}: no answer within {} ms{}{}", Where(span), options_.budget.count(),
                      flight.last_error.ok() ? "" : ", at last: ", Message(flight.last_error)));
      actions.push_back(Held([done = std::move(waiter->done), status] { done(status); }));
      scheduler_.counters().Failed(FetchFault::kAnsweredLate);
    }
    flight.waiters.erase(late, flight.waiters.end());
    for (const Waiter& waiter : flight.waiters) next_due_ = std::min(next_due_, waiter.deadline);

    bool idle = flight.state == Flight::State::kQueued || flight.state == Flight::State::kBackingOff;
    bool for_nobody = flight.fetch_class <= FetchClass::kReplay ||
                      (flight.fetch_class == FetchClass::kFill && fill_state_ != FillState::kRunning);
    if (idle && flight.waiters.empty() && for_nobody) {
      abandoned.push_back(span);
    } else if (flight.state == Flight::State::kBackingOff && flight.retry_at <= now) {
      flights_.SetState(span, Flight::State::kQueued);
    } else if (flight.state == Flight::State::kBackingOff) {
      next_due_ = std::min(next_due_, flight.retry_at);
    }
  }
  for (SpanId span : abandoned) flights_.Erase(span);
  if (!abandoned.empty()) fill_.Reconsider();
}

std::optional<Clock::TimePoint> SpanFetcher::NextDue(Clock::TimePoint now) const {
  mutex_.AssertHeld();
  std::optional<Clock::TimePoint> due;
  auto consider = [&](Clock::TimePoint time) {
    if (time > now && time != Clock::TimePoint::max()) due = due ? std::min(*due, time) : time;
  };
  consider(next_due_);
  for (const std::shared_ptr<RangeTransfer>& transfer : transfers_) {
    if (std::optional<Clock::TimePoint> slow_at = HedgeAt(*transfer)) consider(*slow_at);
  }
  if (fill_state_ == FillState::kRunning) {
    consider(fill_not_before_);
    if (std::optional<Clock::TimePoint> delayed = fill_.NextDue()) consider(*delayed);
  }
  return due;
}

}  // namespace soci
