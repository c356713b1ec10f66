#include "indexer/net/http_collect.h"

#include <fmt/format.h>

#include <utility>

namespace soci {
namespace {

class Collector final : public HttpExchange {
 public:
  Collector(size_t limit, std::function<void(Result<HttpResponse>)> done) : limit_(limit), done_(std::move(done)) {}

  Status OnHead(const HttpResponseHead& head) override {
    response_.head = head;
    return OkStatus();
  }
  Status OnBody(ByteSpan bytes) override {
    if (bytes.size() > limit_ - response_.body.size()) {
      return absl::ResourceExhaustedError(fmt::format("an answer of more than {} bytes", limit_));
    }
    response_.body += AsText(bytes);
    return OkStatus();
  }
  void OnDone(Status status) override {
    if (status.ok()) return done_(std::move(response_));
    done_(std::move(status));
  }

 private:
  const size_t limit_;
  const std::function<void(Result<HttpResponse>)> done_;
  HttpResponse response_;
};

}  // namespace

std::shared_ptr<Transfer> StartCollecting(HttpTransport& transport, HttpRequest request, size_t limit,
                                          std::function<void(Result<HttpResponse>)> done) {
  return transport.Start(std::move(request), std::make_shared<Collector>(limit, std::move(done)));
}

}  // namespace soci
