// A TCP proxy that makes loopback look like a network: delay, a rate per connection, a rate for all, and counters.
//
// Listens on 127.0.0.1 from Start() to the destructor, which cuts every connection and joins. Two threads per
// connection: hundreds of connections are fine. Any thread may call anything. The delay is paid when a connection is
// made and before the first byte of each answer; rates apply to what comes from upstream.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/link/first_byte.h"
#include "bench/link/rate_limiter.h"
#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

namespace soci {

struct LinkOptions {
  std::string upstream_host = "127.0.0.1";
  uint16_t upstream_port = 0;
  uint16_t listen_port = 0;  // 0: the system chooses
  std::chrono::milliseconds delay{0};
  std::chrono::milliseconds first_byte_p99{0};  // above `delay`: answers' delays spread, with `delay` as median
  uint64_t seed = 1;                            // of that spread
  uint64_t connection_bytes_per_second = 0;     // 0: no limit
  uint64_t total_bytes_per_second = 0;
};

struct LinkCounters {
  uint64_t connections = 0;       // accepted since the start
  uint64_t open_connections = 0;  // now
  uint64_t bytes_down = 0;        // from upstream, delivered
  uint64_t bytes_up = 0;
  uint64_t requests = 0;  // HTTP/1.1 requests begun; 0 for other protocols

  std::string ToJson() const;
};

class Link {
 public:
  static Result<std::unique_ptr<Link>> Start(LinkOptions options);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  uint16_t port() const { return port_; }
  LinkCounters counters() const;

  // While down, every connection is reset at once; SetDown(true) also cuts those that are open.
  void SetDown(bool down) SOCI_EXCLUDES(mutex_);
  bool IsDown() const { return down_; }
  // Goes down by itself once so many more bytes have come from upstream; -1 takes that back.
  void GoDownAfter(int64_t bytes) { bytes_until_down_ = bytes; }

 private:
  struct Connection;

  Link(LinkOptions options, UniqueFd listener, uint16_t port);
  void Accept();
  void Serve(const std::shared_ptr<Connection>& connection);
  void PumpUp(const std::shared_ptr<Connection>& connection);
  void PumpDown(const std::shared_ptr<Connection>& connection);
  void CutAll() SOCI_EXCLUDES(mutex_);

  const LinkOptions options_;
  const UniqueFd listener_;
  const uint16_t port_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> down_{false};
  std::atomic<int64_t> bytes_until_down_{-1};
  std::atomic<uint64_t> connections_{0};
  std::atomic<uint64_t> bytes_down_{0};
  std::atomic<uint64_t> bytes_up_{0};
  std::atomic<uint64_t> requests_{0};
  FirstByteDelay first_byte_;
  RateLimiter total_rate_;

  mutable Mutex mutex_;
  std::vector<std::shared_ptr<Connection>> open_ SOCI_GUARDED_BY(mutex_);
  CondVar all_closed_;
  std::thread accept_thread_;  // last: it uses all of the above
};

}  // namespace soci
