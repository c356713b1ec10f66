#include "tests/model/fetch/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "indexer/codec/span_decoder.h"

namespace soci::test {
namespace {

class SimulatedTable final : public FakeLayerTable {
 public:
  SimulatedTable(SpanMap map, std::string_view blob) : map_(std::move(map)) {
    if (blob.empty()) return;
    for (uint32_t i = 0; i < SimulatedTable::span_count(); ++i) {
      const CompressedRange range = SimulatedTable::Extent(SpanId{i}).compressed;
      digests_.push_back(oci::Digest::Of(blob.substr(range.begin, range.size())));
    }
  }
  uint64_t compressed_size() const override { return map_.compressed.back(); }
  uint64_t uncompressed_size() const override { return map_.uncompressed.back(); }
  uint32_t span_count() const override { return static_cast<uint32_t>(map_.compressed.size() - 1); }
  SpanExtent Extent(SpanId span) const override {
    const size_t i = ToIndex(span);
    return {{map_.compressed[i], map_.compressed[i + 1]}, {map_.uncompressed[i], map_.uncompressed[i + 1]}, 0};
  }
  oci::Digest SpanDigest(SpanId span) const override { return digests_.at(ToIndex(span)); }
  SpanId SpanAt(uint64_t uncompressed) const override {
    const auto after = std::upper_bound(map_.uncompressed.begin(), map_.uncompressed.end(), uncompressed);
    const auto index = std::max<std::ptrdiff_t>(after - map_.uncompressed.begin() - 1, 0);
    return SpanId{std::min(static_cast<uint32_t>(index), SimulatedTable::span_count() - 1)};
  }

 private:
  const SpanMap map_;
  std::vector<oci::Digest> digests_;
};

std::shared_ptr<const LayerTable> MakeTable(const SpanMap& map, const std::vector<UncompressedRange>& files,
                                            size_t number) {
  auto table = std::make_shared<SimulatedTable>(map, "");
  table->SetLayer(SimulatedLayer::DigestOf(number));
  for (size_t file = 0; file < files.size(); ++file) {
    FakeInode& inode = table->File(SimulatedLayer::NameOf(file), "");
    inode.attributes.size = files[file].size();
    inode.attributes.content = files[file];
  }
  table->Number();
  return table;
}

SpanMap Shrink(const SpanMap& map) {
  SpanMap small;
  const auto shrink = [](const std::vector<uint64_t>& line, std::vector<uint64_t>& out) {
    for (size_t i = 0; i < line.size(); ++i) {
      out.push_back(i == 0 ? 0 : std::max(out.back() + 1, (line[i] - line.front()) / kScale));
    }
  };
  shrink(map.compressed, small.compressed);
  shrink(map.uncompressed, small.uncompressed);
  return small;
}

std::string Noise(uint64_t size) {
  std::string bytes(size, '\0');
  uint64_t state = size;
  for (char& byte : bytes)
    byte = static_cast<char>((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
  return bytes;
}

// Decoding takes time on the simulation's core, not here.
class ZeroDecoder final : public SpanDecoder {
 public:
  Status Decode(const SpanExtent&, ByteSpan, ByteSpan, MutableByteSpan) const override { return OkStatus(); }
  Status DecodeToEnd(const SpanExtent&, ByteSpan, ByteSpan, const std::function<Status(ByteSpan)>&) const override {
    return OkStatus();
  }
};

VirtualLinkOptions Shrink(const LinkProfile& link, uint64_t seed) {
  VirtualLinkOptions options;
  options.delay = link.delay;
  options.connection_rate = link.connection_rate / kScale;
  options.total_rate = link.total_rate / kScale;
  options.receive_buffer = link.receive_buffer / kScale;
  options.slow_share = link.slow_share;
  options.slow_delay = link.slow_delay;
  options.seed = seed;
  return options;
}

FetchSchedulerOptions SchedulerOptions(const SimulationOptions& options) {
  FetchSchedulerOptions scheduler;
  scheduler.connections = options.connections;
  scheduler.decoded_limit /= kScale;
  scheduler.fetched_limit /= kScale;
  scheduler.round_trip_bytes /= kScale;
  scheduler.threads = false;
  return scheduler;
}

}  // namespace

Status HashedBackingStore::WriteSpan(SpanId span, ByteSpan decoded) {
  SOCI_RETURN_IF_ERROR(FakeBackingStore::WriteSpan(span, decoded));
  for (int i = 0; i < 5 && hashed_ < table_.span_count() && IsPresent(SpanId{hashed_}); ++i) ++hashed_;
  return OkStatus();
}

uint64_t HashedBackingStore::behind() const {
  uint64_t bytes = 0;
  for (uint32_t i = hashed_; i < table_.span_count(); ++i) {
    if (IsPresent(SpanId{i})) bytes += table_.Extent(SpanId{i}).uncompressed.size();
  }
  return bytes;
}

SpanMap SpanMap::Even(uint32_t spans, uint64_t compressed_size, uint64_t uncompressed_size) {
  SpanMap map;
  for (uint64_t i = 0; i <= spans; ++i) {
    map.compressed.push_back(i * compressed_size);
    map.uncompressed.push_back(i * uncompressed_size);
  }
  return map;
}

// As the names are all as long, files are numbered in their order.
std::string SimulatedLayer::NameOf(size_t file) { return fmt::format("{:06}", file); }

oci::LayerDigest SimulatedLayer::DigestOf(size_t layer) {
  return oci::LayerDigest(oci::Digest::Of(fmt::format("layer {}", layer)));
}

SimulatedLayer::SimulatedLayer(Simulation& simulation, const SpanMap& map, const std::string& host,
                               const std::vector<UncompressedRange>& files)
    : simulation_(simulation),
      real_(MakeTable(map, files, simulation.layers().size())),
      read_ahead_(real_, simulation.options().read_ahead),
      first_reads_(real_) {
  static const ZeroDecoder decoder;
  const SpanMap small = Shrink(map);
  blob_ = Noise(small.compressed.back());
  small_ = std::make_shared<SimulatedTable>(small, blob_);
  store_ = std::make_unique<HashedBackingStore>(*small_);
  source_ = simulation.link().MakeSource(blob_);
  LayerFetcherOptions options;
  options.host = host;
  options.decoder = &decoder;
  options.wanted_range /= kScale;
  options.fill_near /= kScale;
  options.fill_range = simulation.options().fill_range / kScale;
  fetcher_ = MakeLayerFetcher(simulation.scheduler(), small_, *source_, *store_, options);
}

Clock::TimePoint SimulatedLayer::Now() const { return simulation_.clock().Now(); }

bool SimulatedLayer::Read(InodeId file, const UncompressedRange& content, const UncompressedRange& wanted,
                          std::function<void()> done) {
  std::vector<SpanId> absent;
  const SpanId last = real_->SpanAt(wanted.end - 1);
  for (SpanId span = real_->SpanAt(wanted.begin); span <= last; span = Next(span)) {
    if (!store_->IsPresent(span)) absent.push_back(span);
  }
  auto left = std::make_shared<size_t>(absent.size() + 1);
  auto answer = [left, done = std::move(done)] {
    if (--*left == 0) done();
  };
  for (SpanId span : absent) fetcher_->Get(span, FetchClass::kDemand, [answer](auto) { answer(); });
  const bool waits = *left > 1;
  first_reads_.OnRead({file, wanted.begin - content.begin, wanted, waits});
  const std::vector<SpanId> ahead = store_->present_count() == real_->span_count()
                                        ? std::vector<SpanId>{}
                                        : read_ahead_.OnRead(file, content, wanted, !absent.empty());
  if (!ahead.empty()) fetcher_->Foresee(ahead);
  answer();
  return waits;
}

Simulation::Simulation(const SimulationOptions& options)
    : options_(options),
      link_(clock_, Shrink(options.link, options.seed)),
      scheduler_(clock_, SchedulerOptions(options)) {}

Simulation::~Simulation() { layers_.clear(); }

SimulatedLayer& Simulation::Add(const SpanMap& map, const std::string& host,
                                const std::vector<UncompressedRange>& files) {
  return *layers_.emplace_back(std::make_unique<SimulatedLayer>(*this, map, host, files));
}

void Simulation::At(Clock::TimePoint time, std::function<void()> then) {
  const auto later =
      std::find_if(appointments_.begin(), appointments_.end(), [&](const auto& other) { return other.at > time; });
  appointments_.insert(later, {time, std::move(then)});
}

void Simulation::Settle() {
  scheduler_.Settle();
  if (!scheduler_.HasDecodes()) {
    decoded_at_.reset();
  } else if (!decoded_at_) {
    // All spans are about as long.
    decoded_at_ = clock_.Now() + std::chrono::nanoseconds(static_cast<int64_t>(4194304e9 / options_.decode_rate));
  }
}

bool Simulation::Step(Clock::TimePoint no_later_than) {
  Settle();
  std::optional<Clock::TimePoint> next = link_.NextEvent();
  const auto consider = [&next](std::optional<Clock::TimePoint> time) {
    if (time) next = next ? std::min(*next, *time) : *time;
  };
  consider(decoded_at_);
  consider(scheduler_.NextDue());
  if (!appointments_.empty()) consider(appointments_.front().at);
  if (!next || *next > no_later_than) return false;
  if (*next > clock_.Now()) clock_.Advance(*next - clock_.Now());
  const Clock::TimePoint now = clock_.Now();
  link_.RunUntil(now);
  if (decoded_at_ && *decoded_at_ <= now) {
    decoded_at_.reset();
    scheduler_.DecodeOne();
  }
  while (!appointments_.empty() && appointments_.front().at <= now) {
    const std::function<void()> then = std::move(appointments_.front().then);
    appointments_.pop_front();
    then();
  }
  return true;
}

bool Simulation::RunUntil(const std::function<bool()>& condition) {
  const Clock::TimePoint end = clock_.Now() + std::chrono::hours(10);
  while (!condition()) {
    if (!Step(end)) return condition();
  }
  Settle();
  return true;
}

void Simulation::RunFor(std::chrono::nanoseconds time) {
  const Clock::TimePoint end = clock_.Now() + time;
  while (Step(end)) {
  }
  if (end > clock_.Now()) clock_.Advance(end - clock_.Now());
  link_.RunUntil(clock_.Now());
  Settle();
}

}  // namespace soci::test
