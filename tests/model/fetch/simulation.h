// The real scheduler and fetchers, without threads, on a virtual clock and a virtual link: what is decided is decided
// by the product, what would take time takes virtual time. The same options give the same run, to the nanosecond.
//
// A kilobyte of a real layer is one byte here (kScale), so that gigabytes cost nothing; rates and limits shrink with
// it. What reads asks through ReadAhead, as LazyLayer does, with the layer's real sizes. One core decodes; the disk
// takes no time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fuse/fetch/fetch_scheduler.h"
#include "fuse/fetch/layer_fetcher.h"
#include "fuse/fetch/make_layer_fetcher.h"
#include "fuse/layer/first_reads.h"
#include "fuse/layer/program_clock.h"
#include "fuse/layer/read_ahead.h"
#include "tests/fakes/fake_backing_store.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_layer_table.h"
#include "tests/model/fetch/virtual_link.h"

namespace soci::test {

inline constexpr uint64_t kScale = 1024;

// Where a layer's spans begin, compressed and uncompressed, real sizes; the last entry is the end.
struct SpanMap {
  std::vector<uint64_t> compressed;
  std::vector<uint64_t> uncompressed;

  static SpanMap Even(uint32_t spans, uint64_t compressed_size, uint64_t uncompressed_size);
};

// Real sizes.
struct LinkProfile {
  std::chrono::milliseconds delay{30};
  double connection_rate = 90e6;
  double total_rate = 125e6;
  uint64_t receive_buffer = 512 << 10;
  double slow_share = 0;
  std::chrono::milliseconds slow_delay{0};
};
inline constexpr LinkProfile kLinkA{};
inline constexpr LinkProfile kLinkB{
    .delay = std::chrono::milliseconds(100), .connection_rate = 25e6, .total_rate = 60e6};
inline constexpr LinkProfile kLinkC{
    .delay = std::chrono::milliseconds(10), .connection_rate = 90e6, .total_rate = 400e6};

struct SimulationOptions {
  LinkProfile link;
  HostBudget connections;
  ReadAheadOptions read_ahead;
  double decode_rate = 450e6;  // uncompressed bytes per second
  uint64_t fill_range = 8 << 20;
  uint64_t seed = 1;
};

class Simulation;

// Hashes what it has in order, beside the writes, as LayerStore does.
class HashedBackingStore final : public FakeBackingStore {
 public:
  explicit HashedBackingStore(const LayerTable& table) : FakeBackingStore(table.span_count()), table_(table) {}

  Status WriteSpan(SpanId span, ByteSpan decoded) override;
  // Compressed bytes of what is present and not hashed.
  uint64_t behind() const;

 private:
  const LayerTable& table_;
  uint32_t hashed_ = 0;  // spans
};

// One layer, mounted.
class SimulatedLayer {
 public:
  // `files`: where the contents of its files lie, for who looks them up: file i is inode i + 2 and has NameOf(i).
  SimulatedLayer(Simulation& simulation, const SpanMap& map, const std::string& host,
                 const std::vector<UncompressedRange>& files);
  static std::string NameOf(size_t file);
  static oci::LayerDigest DigestOf(size_t layer);  // by its number in the simulation

  // As a read of a file's bytes: waits virtually, then calls back. Whether it had to wait is known when it returns.
  bool Read(InodeId file, const UncompressedRange& content, const UncompressedRange& wanted,
            std::function<void()> done);
  void StartFill() {
    fetcher_->StartFill([this] {
      complete_at_ = Now();
      left_to_hash_ = store_->behind();
    });
  }
  LayerFetcher& fetcher() { return *fetcher_; }
  const LayerTable& table() const { return *real_; }
  std::shared_ptr<const LayerTable> shared_table() const { return real_; }
  FirstReads& first_reads() { return first_reads_; }
  HashedBackingStore& store() { return *store_; }
  // When fill was done.
  std::optional<Clock::TimePoint> complete_at() const { return complete_at_; }
  // What was not hashed yet then; small bytes, uncompressed.
  uint64_t left_to_hash() const { return left_to_hash_; }
  void Close() { fetcher_.reset(); }

 private:
  Clock::TimePoint Now() const;

  Simulation& simulation_;
  std::shared_ptr<const LayerTable> real_;
  std::shared_ptr<const LayerTable> small_;
  std::string blob_;
  std::unique_ptr<HashedBackingStore> store_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<LayerFetcher> fetcher_;
  ReadAhead read_ahead_;
  FirstReads first_reads_;
  std::optional<Clock::TimePoint> complete_at_;
  uint64_t left_to_hash_ = 0;
};

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options);
  ~Simulation();

  SimulatedLayer& Add(const SpanMap& map, const std::string& host = "registry",
                      const std::vector<UncompressedRange>& files = {});

  // Calls back at that time.
  void At(Clock::TimePoint time, std::function<void()> then);
  void After(std::chrono::nanoseconds time, std::function<void()> then) { At(clock_.Now() + time, std::move(then)); }
  // Lets time pass until the condition holds or nothing is left to happen; whether it holds.
  bool RunUntil(const std::function<bool()>& condition);
  void RunFor(std::chrono::nanoseconds time);
  double now_seconds() const { return std::chrono::duration<double>(clock_.Now() - Clock::TimePoint()).count(); }

  FakeClock& clock() { return clock_; }
  ProgramClock& program_clock() { return program_clock_; }
  VirtualLink& link() { return link_; }
  FetchScheduler& scheduler() { return scheduler_; }
  const SimulationOptions& options() const { return options_; }
  std::vector<std::unique_ptr<SimulatedLayer>>& layers() { return layers_; }

 private:
  struct Appointment {
    Clock::TimePoint at;
    std::function<void()> then;
  };

  bool Step(Clock::TimePoint no_later_than);
  void Settle();

  const SimulationOptions options_;
  FakeClock clock_;
  ProgramClock program_clock_{clock_};
  VirtualLink link_;
  FetchScheduler scheduler_;
  std::vector<std::unique_ptr<SimulatedLayer>> layers_;
  std::deque<Appointment> appointments_;  // in order of time
  std::optional<Clock::TimePoint> decoded_at_;
};

}  // namespace soci::test
