// A TCP proxy that makes loopback look like a network: delay, a rate per connection, a rate for all, and counters.
//
// Listens on 127.0.0.1, or where it is told, from Start() to the destructor, which cuts every connection and joins. Two
// threads per connection: hundreds of connections are fine. Any thread may call anything. The delay is paid when a
// connection is made and before the first byte of each answer; rates apply to what comes from upstream.
//
// Where it is to redirect, to fail or to delay tokens it reads the requests, so these need plain HTTP/1.1 in front of a
// registry. A redirect goes to a second port, which shares the total rate, counts for the same counters, serves only
// blobs, and refuses credentials, as the object stores behind registries do.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/link/faults.h"
#include "bench/link/first_byte.h"
#include "bench/link/rate_limiter.h"
#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

namespace soci {

struct LinkOptions {
  std::string upstream_host = "127.0.0.1";
  uint16_t upstream_port = 0;
  std::string listen_address = "127.0.0.1";  // IPv4
  uint16_t listen_port = 0;                  // 0: the system chooses
  // Of a network namespace, where clients find it; upstream stays in that of who starts the link. -1: the same.
  int listen_namespace = -1;
  std::chrono::milliseconds delay{0};
  std::chrono::milliseconds first_byte_p99{0};  // above `delay`: answers' delays spread, with `delay` as median
  uint64_t seed = 1;                            // of that spread
  uint64_t connection_bytes_per_second = 0;     // 0: no limit
  uint64_t total_bytes_per_second = 0;
  bool redirect_blobs = false;               // with 307, to a second port
  FaultOptions faults{};                     // of answers that carry blobs
  std::chrono::milliseconds token_delay{0};  // more before the answer to what is not for /v2/
  // Not the link's, but of the disk where bytes end up: who has a disk to limit does it. 0: no limit.
  uint64_t disk_bytes_per_second = 0;

  bool ReadsRequests() const { return redirect_blobs || faults.any() || token_delay.count() > 0; }
};

struct LinkCounters {
  uint64_t connections = 0;       // accepted since the start
  uint64_t open_connections = 0;  // now
  uint64_t bytes_down = 0;        // from upstream, delivered
  uint64_t bytes_up = 0;
  uint64_t requests = 0;  // HTTP/1.1 requests begun; 0 for other protocols
  uint64_t redirects = 0;
  uint64_t credentials_refused = 0;  // by the second port
  uint64_t unavailable = 0, resets = 0, stalls = 0, flips = 0;

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

  Link(LinkOptions options, UniqueFd listener, uint16_t port, std::shared_ptr<RateLimiter> total_rate,
       std::unique_ptr<Link> blob_host, bool is_blob_host);
  static Result<std::unique_ptr<Link>> StartOne(LinkOptions options, std::shared_ptr<RateLimiter> total_rate,
                                                std::unique_ptr<Link> blob_host, bool is_blob_host);
  void Accept();
  void Serve(const std::shared_ptr<Connection>& connection);
  void PumpUp(const std::shared_ptr<Connection>& connection);
  bool PassRequest(Connection& connection, const std::string& head);
  bool Answer(Connection& connection, std::string_view status_and_headers);
  bool ActFault(Connection& connection, Fault::Kind kind);
  void Pause(std::chrono::milliseconds time) const;
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
  std::atomic<uint64_t> redirects_{0}, credentials_refused_{0}, unavailable_{0}, resets_{0}, stalls_{0}, flips_{0};
  FirstByteDelay first_byte_;
  FaultDice faults_;
  const std::shared_ptr<RateLimiter> total_rate_;  // shared with the blob host
  const std::unique_ptr<Link> blob_host_;          // where blobs are redirected to; may be none
  const bool is_blob_host_;

  mutable Mutex mutex_;
  std::vector<std::shared_ptr<Connection>> open_ SOCI_GUARDED_BY(mutex_);
  CondVar all_closed_;
  std::thread accept_thread_;  // last: it uses all of the above
};

}  // namespace soci
