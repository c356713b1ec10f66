#include "tests/model/fetch/virtual_link.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace soci::test {
namespace {

using Duration = Clock::TimePoint::duration;

double Seconds(Duration time) { return std::chrono::duration<double>(time).count(); }
Duration ToDuration(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)) + Duration(1);
}

}  // namespace

struct VirtualLink::Flow final : Transfer {
  void Pause() override { paused = true; }
  void Resume() override { paused = false; }
  void Cancel() override {
    if (!sink) return;
    cancelled = true;
    std::exchange(sink, nullptr)->OnEnd(absl::CancelledError("cancelled"));
  }

  bool Flows(const VirtualLinkOptions& options) const {
    if (!opened || !sink || arrived >= static_cast<double>(bytes.size())) return false;
    return !paused || arrived - static_cast<double>(taken) < static_cast<double>(options.receive_buffer);
  }
  // The end of what has arrived; rates are not exact.
  size_t there() const {
    return arrived + 0.01 >= static_cast<double>(bytes.size()) ? bytes.size() : static_cast<size_t>(arrived);
  }
  bool CanDeliver(const VirtualLinkOptions& options) const {
    return sink && opened && !paused && (there() == bytes.size() || there() - taken >= options.chunk);
  }
  // Bytes until something is to be done about it.
  double ToNextStep(const VirtualLinkOptions& options) const {
    const double end = static_cast<double>(bytes.size());
    const double from = static_cast<double>(taken);
    const double step = static_cast<double>(paused ? options.receive_buffer : options.chunk);
    return std::min(end, from + step) - arrived;
  }

  std::string_view bytes;
  std::shared_ptr<ByteSink> sink;
  bool lower = false;
  Clock::TimePoint opens_at;
  bool opened = false;
  bool paused = false;
  bool cancelled = false;
  double arrived = 0;
  size_t taken = 0;
};

class VirtualLink::Source final : public ByteSource {
 public:
  Source(VirtualLink& link, const std::string& blob) : link_(link), blob_(blob) {}
  uint64_t size() const override { return blob_.size(); }
  Status ReadAt(uint64_t, MutableByteSpan, const FetchContext&) const override {
    return absl::UnimplementedError("only StartRead");
  }
  std::shared_ptr<Transfer> StartRead(uint64_t offset, uint64_t length, const FetchContext& context,
                                      std::shared_ptr<ByteSink> sink) const override {
    return link_.Start(std::string_view(blob_).substr(offset, length), context, std::move(sink));
  }

 private:
  VirtualLink& link_;
  const std::string& blob_;
};

std::unique_ptr<ByteSource> VirtualLink::MakeSource(const std::string& blob) {
  return std::make_unique<Source>(*this, blob);
}

std::shared_ptr<Transfer> VirtualLink::Start(std::string_view bytes, const FetchContext& context,
                                             std::shared_ptr<ByteSink> sink) {
  auto flow = std::make_shared<Flow>();
  flow->bytes = bytes;
  flow->sink = std::move(sink);
  flow->lower = context.fetch_class != FetchClass::kDemand;
  const bool slow = std::uniform_real_distribution<double>(0, 1)(random_) < options_.slow_share;
  flow->opens_at = clock_.Now() + (slow ? options_.slow_delay : options_.delay);
  if (idle_connections_ > 0) {
    --idle_connections_;
  } else {
    flow->opens_at += options_.delay;
    ++connections_;
  }
  ++requests_;
  flows_.push_back(flow);
  most_open_ = std::max(most_open_, open());
  return flow;
}

size_t VirtualLink::open() const {
  return static_cast<size_t>(
      std::count_if(flows_.begin(), flows_.end(), [](const auto& flow) { return flow->sink != nullptr; }));
}

double VirtualLink::RateOfEach() const {
  const auto count =
      std::count_if(flows_.begin(), flows_.end(), [this](const auto& flow) { return flow->Flows(options_); });
  return count == 0 ? 0 : std::min(options_.connection_rate, options_.total_rate / static_cast<double>(count));
}

std::optional<Clock::TimePoint> VirtualLink::NextEvent() const {
  std::optional<Clock::TimePoint> next;
  const double rate = RateOfEach();
  for (const auto& flow : flows_) {
    Clock::TimePoint at = flow->opens_at;
    if (!flow->sink || flow->CanDeliver(options_)) {
      at = moved_to_;
    } else if (flow->opened) {
      if (!flow->Flows(options_)) continue;
      at = moved_to_ + ToDuration(flow->ToNextStep(options_) / rate);
    }
    next = next ? std::min(*next, at) : at;
  }
  return next;
}

void VirtualLink::RunUntil(Clock::TimePoint now) {
  const double seconds = Seconds(now - moved_to_);
  const double rate = RateOfEach();
  for (const auto& flow : flows_) {
    if (!flow->Flows(options_)) continue;
    const double bytes = std::min(rate * seconds, static_cast<double>(flow->bytes.size()) - flow->arrived);
    flow->arrived += bytes;
    busy_seconds_ += bytes / options_.total_rate;
    if (flow->lower && watched_) lower_bytes_ += static_cast<uint64_t>(std::llround(bytes));
  }
  moved_to_ = now;
  for (const auto& flow : flows_) flow->opened = flow->opened || flow->opens_at <= now;
  Deliver();
}

void VirtualLink::Deliver() {
  const std::vector<std::shared_ptr<Flow>> all(flows_.begin(), flows_.end());
  for (const auto& flow : all) {
    if (!flow->CanDeliver(options_)) continue;
    const size_t there = flow->there();
    const size_t count = there - flow->taken;
    const std::string_view piece = flow->bytes.substr(flow->taken, count);
    flow->taken = there;
    bytes_ += count;
    const Status taken = flow->sink->OnBytes(AsBytes(piece));
    if (!flow->sink || (taken.ok() && there < flow->bytes.size())) continue;
    if (taken.ok()) ++idle_connections_;
    std::exchange(flow->sink, nullptr)->OnEnd(taken);
  }
  flows_.remove_if([](const auto& flow) { return flow->sink == nullptr; });
}

}  // namespace soci::test
