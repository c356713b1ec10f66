// The threads that serve every session: one epoll set, each thread takes whatever is ready.
//
// More threads than cores cost rates and gain nothing, as none of them ever blocks. Any thread may call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "fuse/session/session.h"
#include "indexer/base/mutex.h"
#include "indexer/base/unique_fd.h"

namespace soci {

class ServingThreads {
 public:
  using Ticket = uint64_t;

  // 0 threads: one per core.
  static Result<std::unique_ptr<ServingThreads>> Start(unsigned threads);
  // Every session has been withdrawn.
  ~ServingThreads();
  ServingThreads(const ServingThreads&) = delete;
  ServingThreads& operator=(const ServingThreads&) = delete;

  Result<Ticket> Serve(std::shared_ptr<Session> session);
  // Waits until no thread is within the session. Not from such a thread.
  void Withdraw(Ticket ticket);

 private:
  struct Served {
    std::shared_ptr<Session> session;
    int threads = 0;  // within it now
    bool withdrawn = false;
  };

  ServingThreads(UniqueFd epoll, UniqueFd stop);
  void Run();
  void ServeReady(Ticket ticket, RequestBuffer& buffer);
  void StopWatching(const Session& session);

  const UniqueFd epoll_;
  const UniqueFd stop_;  // an eventfd in the epoll set

  Mutex mutex_;  // a leaf
  CondVar left_;
  Ticket last_ticket_ SOCI_GUARDED_BY(mutex_) = 0;  // 0 stands for stop_
  std::map<Ticket, Served> served_ SOCI_GUARDED_BY(mutex_);

  std::vector<std::thread> threads_;
};

}  // namespace soci
