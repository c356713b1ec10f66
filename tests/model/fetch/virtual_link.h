// A link in virtual time: a delay before each answer's first byte, a rate per connection, a rate for all, shared
// evenly by whoever has bytes under way. What is under way to a transfer that stands still goes on arriving until its
// receive buffer is full. Nothing moves but in RunUntil; one thread; the same seed gives the same run.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "indexer/base/byte_source.h"
#include "indexer/base/clock.h"

namespace soci::test {

// All sizes are those of the simulation (see simulation.h: a kilobyte is one byte).
struct VirtualLinkOptions {
  Clock::TimePoint::duration delay{};
  double connection_rate = 0;  // bytes per second
  double total_rate = 0;
  uint64_t receive_buffer = 0;
  uint64_t chunk = 256;  // bytes that are handed on together
  // This share of the requests takes `slow_delay` instead.
  double slow_share = 0;
  Clock::TimePoint::duration slow_delay{};
  uint64_t seed = 1;
};

class VirtualLink {
 public:
  VirtualLink(const Clock& clock, const VirtualLinkOptions& options)
      : clock_(clock), options_(options), random_(options.seed) {}

  // A blob behind the link.
  std::unique_ptr<ByteSource> MakeSource(const std::string& blob);

  // When something happens next, if nothing changes before.
  std::optional<Clock::TimePoint> NextEvent() const;
  // Moves bytes up to this time, which is now, and hands them on.
  void RunUntil(Clock::TimePoint now);

  // Bytes of requests that began as read-ahead, replay or fill are counted apart while `watched`.
  void Watch(bool watched) { watched_ = watched; }

  size_t open() const;  // transfers under way
  size_t most_open() const { return most_open_; }
  uint64_t requests() const { return requests_; }
  uint64_t connections() const { return connections_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t lower_bytes_while_watched() const { return lower_bytes_; }
  double busy_seconds() const { return busy_seconds_; }  // at full rate, that the bytes took

 private:
  class Source;
  struct Flow;

  std::shared_ptr<Transfer> Start(std::string_view bytes, const FetchContext& context, std::shared_ptr<ByteSink> sink);
  double RateOfEach() const;
  void Deliver();

  const Clock& clock_;
  const VirtualLinkOptions options_;
  std::mt19937_64 random_;
  Clock::TimePoint moved_to_{};
  std::list<std::shared_ptr<Flow>> flows_;
  uint64_t idle_connections_ = 0;
  uint64_t connections_ = 0;
  uint64_t requests_ = 0;
  uint64_t bytes_ = 0;
  uint64_t lower_bytes_ = 0;
  size_t most_open_ = 0;
  double busy_seconds_ = 0;
  bool watched_ = false;
};

}  // namespace soci::test
