// A real transport whose waits cost no time: each After moves a FakeClock by the delay and runs at once. Any thread.
//
// `waits` tells how long the users wanted to wait, in order.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "indexer/net/http_transport.h"
#include "tests/fakes/fake_clock.h"

namespace soci {

class FakeTimeTransport : public HttpTransport {
 public:
  explicit FakeTimeTransport(FakeClock& clock) : clock_(clock) {}

  std::shared_ptr<Transfer> Start(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override {
    return real_->Start(std::move(request), std::move(exchange));
  }
  void After(std::chrono::milliseconds delay, std::function<void()> task) override {
    if (delay.count() > 0) {
      std::lock_guard lock(mutex_);
      waits_.push_back(delay);
      clock_.Advance(delay);
    }
    real_->After({}, std::move(task));
  }

  std::vector<std::chrono::milliseconds> waits() const {
    std::lock_guard lock(mutex_);
    return waits_;
  }

 private:
  FakeClock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::chrono::milliseconds> waits_;
  const std::unique_ptr<HttpTransport> real_ = MakeCurlTransport();  // last: its thread ends first
};

}  // namespace soci
