// Tells calls that take long when whoever made them has gone: gRPC's synchronous server lets a handler only ask.
//
// One thread asks for all calls that are watched, some times a second, and sleeps when there is none. Any thread.
#pragma once

#include <list>
#include <stop_token>
#include <thread>

#include "indexer/base/mutex.h"

namespace grpc {
class ServerContext;
}

namespace soci {

class CancelWatch {
 private:
  struct Entry {
    grpc::ServerContext* call;
    std::stop_source stop;
  };

 public:
  // For as long as the call is being handled. Must go before the watch does.
  class Watched {
   public:
    Watched(CancelWatch& watch, grpc::ServerContext& call);
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    std::stop_token token() const { return entry_->stop.get_token(); }

   private:
    CancelWatch& watch_;
    std::list<Entry>::iterator entry_;
  };

  CancelWatch();
  ~CancelWatch();

 private:
  void Run();

  Mutex mutex_;  // a leaf
  CondVar changed_;
  std::list<Entry> calls_ SOCI_GUARDED_BY(mutex_);
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace soci
