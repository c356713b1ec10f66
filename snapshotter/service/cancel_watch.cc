#include "snapshotter/service/cancel_watch.h"

#include <grpcpp/grpcpp.h>
#include <pthread.h>

#include <chrono>
#include <vector>

namespace soci {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(200);

}  // namespace

CancelWatch::Watched::Watched(CancelWatch& watch, grpc::ServerContext& call) : watch_(watch) {
  MutexLock lock(watch_.mutex_);
  entry_ = watch_.calls_.insert(watch_.calls_.end(), Entry{&call, {}});
  watch_.changed_.NotifyAll();
}

CancelWatch::Watched::~Watched() {
  MutexLock lock(watch_.mutex_);
  watch_.calls_.erase(entry_);
}

CancelWatch::CancelWatch() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "cancel-watch");
    Run();
  });
}

CancelWatch::~CancelWatch() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void CancelWatch::Run() {
  while (true) {
    std::vector<std::stop_source> gone;  // told without the lock
    {
      MutexLock lock(mutex_);
      while (calls_.empty() && !stopping_) changed_.Wait(mutex_);
      if (!stopping_) changed_.WaitFor(mutex_, kPeriod);
      if (stopping_) return;
      for (const Entry& call : calls_) {
        if (!call.stop.stop_requested() && call.call->IsCancelled()) gone.push_back(call.stop);
      }
    }
    for (std::stop_source& stop : gone) stop.request_stop();
  }
}

}  // namespace soci
