#include "fuse/fetch/fetch_scheduler.h"

#include <pthread.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "fuse/fetch/fetch_guest.h"
#include "fuse/fetch/range_transfer.h"
#include "fuse/fetch/span_fetcher.h"

namespace soci {
namespace {

constexpr uint64_t kFillsInTurn = 4;

unsigned DecodeThreads(const FetchSchedulerOptions& options) {
  if (!options.threads) return 0;
  return options.decode_threads > 0 ? options.decode_threads : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

FetchScheduler::FetchScheduler(Clock& clock, const FetchSchedulerOptions& options)
    : clock_(clock),
      options_(options),
      decode_pool_("decode", DecodeThreads(options)),
      io_pool_("io", options.threads ? options.io_threads : 0) {
  if (!options.threads) return;
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "fetch");
    Run();
  });
}

FetchScheduler::~FetchScheduler() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    Signal();
  }
  if (thread_.joinable()) thread_.join();
}

void FetchScheduler::Wake() {
  MutexLock lock(mutex_);
  Signal();
}

uint64_t FetchScheduler::decoded_bytes() {
  MutexLock lock(mutex_);
  return decoded_bytes_;
}

void FetchScheduler::Attach(SpanFetcher& fetcher) {
  mutex_.AssertHeld();
  fetchers_.push_back(&fetcher);
}

void FetchScheduler::Detach(SpanFetcher& fetcher) {
  mutex_.AssertHeld();
  std::erase(fetchers_, &fetcher);
}

void FetchScheduler::AttachGuest(FetchGuest& guest) {
  mutex_.AssertHeld();
  guests_.push_back(&guest);
  Signal();
}

void FetchScheduler::DetachGuest(FetchGuest& guest) {
  mutex_.AssertHeld();
  std::erase(guests_, &guest);
  Signal();
}

bool FetchScheduler::MayGuestStart(const std::string& host) {
  mutex_.AssertHeld();
  return soci::MayGuestStart(LoadOf(host, clock_.Now()), Load(), options_.connections);
}

void FetchScheduler::Signal() {
  mutex_.AssertHeld();
  signalled_ = true;
  news_.NotifyOne();
}

HostState& FetchScheduler::FindHost(const std::string& host) {
  MutexLock lock(mutex_);
  return HostOf(host);
}

HostState& FetchScheduler::HostOf(const std::string& host) {
  return hosts_.try_emplace(host, options_.round_trip_bytes, options_.connections.total, options_.connections.replay)
      .first->second;
}

void FetchScheduler::Await(CondVar& released) {
  mutex_.AssertHeld();
  if (options_.threads) return released.Wait(mutex_);
  mutex_.unlock();
  do {
    Settle();
  } while (DecodeOne());
  mutex_.lock();
}

void FetchScheduler::Settle() {
  do {
    Actions actions;
    {
      MutexLock lock(mutex_);
      signalled_ = false;
      actions = Decide(clock_.Now());
    }
    for (const std::function<void()>& action : actions) action();
    if (!actions.empty()) continue;
    if (!io_pool_.RunOne()) return;
  } while (true);
}

bool FetchScheduler::HasDecodes() {
  MutexLock lock(mutex_);
  return !decode_queue_.empty();
}

bool FetchScheduler::DecodeOne() { return HasDecodes() && decode_pool_.RunOne(); }

std::optional<Clock::TimePoint> FetchScheduler::NextDue() {
  MutexLock lock(mutex_);
  return DueAfter(clock_.Now());
}

uint64_t FetchScheduler::NextOrder() {
  mutex_.AssertHeld();
  return ++last_order_;
}

// The deciding thread.

void FetchScheduler::Run() {
  mutex_.lock();
  while (!stopping_) {
    signalled_ = false;
    Clock::TimePoint now = clock_.Now();
    Actions actions = Decide(now);
    if (actions.empty()) {
      WaitForNews(now);
      continue;
    }
    mutex_.unlock();
    for (const std::function<void()>& action : actions) action();
    actions.clear();
    mutex_.lock();
  }
  mutex_.unlock();
}

std::optional<Clock::TimePoint> FetchScheduler::DueAfter(Clock::TimePoint now) {
  std::optional<Clock::TimePoint> due;
  for (SpanFetcher* fetcher : fetchers_) {
    std::optional<Clock::TimePoint> next = fetcher->NextDue(now);
    if (next) due = due ? std::min(*due, *next) : *next;
  }
  return due;
}

void FetchScheduler::WaitForNews(Clock::TimePoint now) {
  const std::optional<Clock::TimePoint> due = DueAfter(now);
  if (signalled_ || stopping_) return;
  if (!due) {
    news_.Wait(mutex_);
  } else if (*due > now) {
    news_.WaitFor(mutex_, *due - now);
  }
}

FetchScheduler::Actions FetchScheduler::Decide(Clock::TimePoint now) {
  Actions actions;
  for (SpanFetcher* fetcher : fetchers_) {
    fetcher->Expire(now, actions);
    fetcher->HedgeSlow(now, actions);
  }
  DaemonLoad load = Load();
  Steer(load, actions);
  StartRanges(load, now, actions);
  TellGuests(load, now, actions);
  return actions;
}

void FetchScheduler::TellGuests(const DaemonLoad& load, Clock::TimePoint now, Actions& actions) {
  for (FetchGuest* guest : guests_) {
    FetchGuest::Listener& listener = guest->listener_;
    if (guest->paused_ != load.demand_waits) {
      guest->paused_ = load.demand_waits;
      TellGuest(
          *guest, [&listener, paused = load.demand_waits] { listener.OnPause(paused); }, actions);
    }
    if (!guest->waits_ || guest->told_) continue;
    if (!soci::MayGuestStart(LoadOf(guest->host_, now), load, options_.connections)) continue;
    guest->told_ = true;
    TellGuest(
        *guest, [&listener] { listener.OnRoom(); }, actions);
  }
}

// The guest may go while its call is on its way, and then waits for it.
void FetchScheduler::TellGuest(FetchGuest& guest, std::function<void()> call, Actions& actions) {
  ++guest.calls_;
  actions.push_back([this, &guest, call = std::move(call)] {
    call();
    MutexLock lock(mutex_);
    if (--guest.calls_ == 0) guest.called_.NotifyAll();
  });
}

DaemonLoad FetchScheduler::Load() {
  DaemonLoad load;
  load.backlog = decode_queue_.compressed_bytes() > options_.fetched_limit;
  for (const SpanFetcher* fetcher : fetchers_) load.demand_waits = load.demand_waits || fetcher->DemandWaits();
  return load;
}

// Cancels, pauses and resumes what runs.
void FetchScheduler::Steer(const DaemonLoad& load, Actions& actions) {
  struct Running {
    FetchClass fetch_class;
    SpanFetcher* fetcher;
    std::shared_ptr<RangeTransfer> transfer;
  };
  std::vector<Running> running;
  for (SpanFetcher* fetcher : fetchers_) {
    for (const std::shared_ptr<RangeTransfer>& transfer : fetcher->transfers()) {
      if (!transfer->cancel_wanted) {
        running.push_back({fetcher->ClassOf(*transfer), fetcher, transfer});
      } else if (!std::exchange(transfer->cancel_sent, true)) {
        actions.push_back(fetcher->Held([transfer] { transfer->Cancel(); }));
      }
    }
  }
  std::stable_sort(running.begin(), running.end(),
                   [](const Running& a, const Running& b) { return a.fetch_class < b.fetch_class; });
  uint32_t beside = 0;
  for (const auto& [fetch_class, fetcher, transfer] : running) {
    const bool pause = MustPause(fetch_class, load, PullWaits(fetcher->host()), beside,
                                 BudgetOf(fetcher->host_state()).fill_beside_demand);
    if (!pause && fetch_class != FetchClass::kDemand) ++beside;
    if (!transfer->handle || pause == transfer->paused) continue;
    transfer->paused = pause;
    transfer->stood_still = true;
    actions.push_back(fetcher->Held([transfer = transfer, pause] { transfer->SetPaused(pause); }));
  }
}

HostBudget FetchScheduler::BudgetOf(const HostState& state) const {
  HostBudget budget = options_.connections;
  const double link_rate = state.peak.bytes_per_second();
  budget.total = std::min(budget.total, state.connections.limit());
  budget.replay = std::min(budget.replay, state.replays.limit());
  budget.fill_beside_demand = FillBesideDemand(link_rate, state.link.ConnectionRate());
  return budget;
}

void FetchScheduler::StartRanges(DaemonLoad load, Clock::TimePoint now, Actions& actions) {
  std::set<std::string> hosts;
  for (const SpanFetcher* fetcher : fetchers_) hosts.insert(fetcher->host());
  for (const std::string& host : hosts) {
    HostState& state = HostOf(host);
    NoteRate(state, now);
    const HostBudget budget = BudgetOf(state);
    for (;;) {
      const HostLoad host_load = LoadOf(host, now);
      std::optional<FetchClass> next = NextToStart(host_load, load, budget);
      state.saturated = IsHeldBack(host_load, load, budget);
      state.replay_saturated = IsReplayHeldBack(host_load, load, budget);
      if (!next) break;
      SpanFetcher* fetcher = FirstWaiting(host, *next, now);
      std::shared_ptr<RangeTransfer> transfer = fetcher->StartRange(*next, now);
      std::function<void()> start = fetcher->Held([transfer, fetcher] { transfer->Start(fetcher->source()); });
      bool urgent = *next == FetchClass::kDemand;
      actions.push_back(
          [this, start = std::move(start), urgent] { urgent ? io_pool_.PostUrgent(start) : io_pool_.Post(start); });
    }
  }
}

// What came since the last look, if the number of connections was what held it back.
void FetchScheduler::NoteRate(HostState& state, Clock::TimePoint now) {
  const uint64_t received = state.received;
  const uint64_t bytes = received - state.noted_bytes;
  const Clock::TimePoint::duration time = now - state.noted_at;
  state.peak.Note(bytes, time);
  state.saturated ? state.connections.Note(bytes, time) : state.connections.Interrupt();
  state.replay_saturated ? state.replays.Note(bytes, time) : state.replays.Interrupt();
  state.noted_at = now;
  state.noted_bytes = received;
}

// A guest is there until its layer is of use, with transfers or without.
bool FetchScheduler::PullWaits(const std::string& host) {
  return std::any_of(guests_.begin(), guests_.end(), [&](const FetchGuest* guest) { return guest->host_ == host; });
}

HostLoad FetchScheduler::LoadOf(const std::string& host, Clock::TimePoint now) {
  HostLoad load;
  for (SpanFetcher* fetcher : fetchers_) {
    if (fetcher->host() != host) continue;
    for (size_t i = 0; i < kFetchClassCount; ++i) {
      load.waiting[i] = load.waiting[i] || fetcher->Wants(static_cast<FetchClass>(i), now);
    }
    for (const std::shared_ptr<RangeTransfer>& transfer : fetcher->transfers()) {
      ++load.running[ToIndex(fetcher->ClassOf(*transfer))];
    }
  }
  for (const FetchGuest* guest : guests_) {
    if (guest->host_ == host) load.guests += guest->running_;
  }
  load.pull_waits = PullWaits(host);
  return load;
}

// Demand: of the layer that has least under way, so that one with many readers does not starve the others. Fill: of the
// layer that was read last, and each fourth time of the one whose turn is longest ago. Replay: what is due first, in
// whatever layer. Else what has waited longest.
SpanFetcher* FetchScheduler::FirstWaiting(const std::string& host, FetchClass fetch_class, Clock::TimePoint now) {
  const bool in_turn = fetch_class == FetchClass::kFill && ++fills_ % kFillsInTurn == 0;
  SpanFetcher* first = nullptr;
  std::pair<uint64_t, FlightOrder> first_key;
  for (SpanFetcher* fetcher : fetchers_) {
    if (fetcher->host() != host || !fetcher->Wants(fetch_class, now)) continue;
    uint64_t rank = 0;
    if (fetch_class == FetchClass::kDemand) rank = fetcher->RunningOf(FetchClass::kDemand);
    if (in_turn) rank = fetcher->last_fill();
    const std::pair key(rank, fetcher->FirstWanted(fetch_class));
    if (!first || key < first_key) std::tie(first, first_key) = std::pair(fetcher, key);
  }
  return first;
}

// Decoding.

void FetchScheduler::PushDecode(const SpanJob& job) {
  mutex_.AssertHeld();
  decode_queue_.Push(job);
  decode_pool_.Post([this] { RunDecode(); });
}

void FetchScheduler::RaiseDecode(const SpanFetcher& fetcher, SpanId span, FetchClass fetch_class) {
  mutex_.AssertHeld();
  decode_queue_.Raise(&fetcher, span, fetch_class);
  PostDecoders();
}

// Demand is never held back; the others as long as what they decode would not fit.
bool FetchScheduler::MayDecode(const SpanJob& job) {
  if (job.fetch_class == FetchClass::kDemand || decoded_bytes_ == 0) return true;
  return decoded_bytes_ + job.decoded <= options_.decoded_limit;
}

void FetchScheduler::PostDecoders() {
  for (; idle_decoders_ > 0; --idle_decoders_) decode_pool_.Post([this] { RunDecode(); });
}

void FetchScheduler::RunDecode() {
  std::optional<SpanJob> job;
  {
    MutexLock lock(mutex_);
    job = decode_queue_.Take([this](const SpanJob& candidate)
                                 SOCI_NO_THREAD_SAFETY_ANALYSIS { return MayDecode(candidate); });
    if (!job) {
      if (!decode_queue_.empty()) ++idle_decoders_;
      return;
    }
    decoded_bytes_ += job->decoded;
    Signal();  // the backlog is shorter
  }
  job->fetcher->DecodeSpan(job->span);
}

// Writing behind.

void FetchScheduler::PushWrite(const SpanJob& job) {
  mutex_.AssertHeld();
  if (job.fetch_class == FetchClass::kDemand) {
    while (decoded_bytes_ > options_.decoded_limit) {
      std::optional<SpanJob> pushed_out = write_queue_.TakeLeastUrgent();
      if (!pushed_out) break;
      DropWrite(*pushed_out);
    }
    // Answered already; the disk cannot keep up, so it is not kept.
    if (decoded_bytes_ > options_.decoded_limit) return DropWrite(job);
  }
  write_queue_.Push(job);
  if (writers_ == options_.writers) return;
  ++writers_;
  io_pool_.Post([this] { RunWriter(); });
}

void FetchScheduler::DropWrite(const SpanJob& job) {
  FreeDecoded(job.decoded);
  job.fetcher->WriteDropped(job.span);
}

void FetchScheduler::FreeDecoded(uint64_t bytes) {
  mutex_.AssertHeld();
  decoded_bytes_ -= bytes;
  PostDecoders();
}

void FetchScheduler::RunWriter() {
  for (;;) {
    std::optional<SpanJob> job;
    {
      MutexLock lock(mutex_);
      job = write_queue_.Take([](const SpanJob&) { return true; });
      if (!job) {
        --writers_;
        return;
      }
    }
    job->fetcher->WriteSpan(job->span);
  }
}

void FetchScheduler::DropJobs(SpanFetcher& fetcher, const std::function<bool(const SpanJob&)>& matches) {
  mutex_.AssertHeld();
  for (const SpanJob& job : decode_queue_.Remove(&fetcher, matches)) fetcher.DecodeDropped(job.span);
  for (const SpanJob& job : write_queue_.Remove(&fetcher, matches)) DropWrite(job);
  PostDecoders();
  Signal();
}

}  // namespace soci
