// Moves HTTP exchanges: many at once, all on one network thread, bodies handed on as they come and never held whole.
//
// The transport knows nothing of registries: it follows no redirect, answers no challenge and retries nothing; its
// users decide. Every call-back of every exchange, and every task given to After, runs on the one network thread: users
// may keep their own state without locks there, and must never block there. Start, After and the handles may be used
// from any thread. The transport outlives everything that uses it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "indexer/base/byte_source.h"
#include "indexer/net/http_types.h"

namespace soci {

// Receives one response. OnHead at most once, then OnBody any number of times, then OnDone exactly once, last.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  // A status that is not ok from either ends the transfer; it comes back in OnDone.
  virtual Status OnHead(const HttpResponseHead& head) = 0;
  virtual Status OnBody(ByteSpan bytes) = 0;
  // kUnavailable: the network (refused, reset, cut short, a limit passed); kDeadlineExceeded: limits.total passed;
  // kFailedPrecondition: the peer's certificate is not trusted, or a CA or key file is unusable; kCancelled;
  // kInvalidArgument: the URL. Texts name the host and never the query.
  virtual void OnDone(Status status) = 0;
};

class HttpTransport {
 public:
  virtual ~HttpTransport() = default;

  // Never blocks. The exchange is kept until OnDone has returned.
  virtual std::shared_ptr<Transfer> Start(HttpRequest request, std::shared_ptr<HttpExchange> exchange) = 0;

  // Runs `task` on the network thread after `delay`, in the order of the times; zero: as soon as it can. A transport
  // that is destroyed drops the tasks that are left.
  virtual void After(std::chrono::milliseconds delay, std::function<void()> task) = 0;
};

struct CurlTransportOptions {
  // Idle connections kept open for the next request.
  long idle_connections = 128;
  // Receive buffer per active transfer.
  long buffer_size = 128 << 10;
  std::string user_agent = "soci-snapshotter";
};

// HTTP/1.1 on libcurl. The proxy variables of the environment are honoured, as everywhere.
std::unique_ptr<HttpTransport> MakeCurlTransport(CurlTransportOptions options = {});

}  // namespace soci
