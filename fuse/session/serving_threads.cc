#include "fuse/session/serving_threads.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace soci {
namespace {

// A busy session gives way to the others after so many requests.
constexpr int kTurns = 16;

}  // namespace

Result<std::unique_ptr<ServingThreads>> ServingThreads::Start(unsigned threads) {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return ErrnoStatus(errno, "epoll_create1");
  UniqueFd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return ErrnoStatus(errno, "eventfd");
  epoll_event event{EPOLLIN, {.u64 = 0}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, stop.get(), &event) != 0) return ErrnoStatus(errno, "epoll_ctl");

  std::unique_ptr<ServingThreads> serving(new ServingThreads(std::move(epoll), std::move(stop)));
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < threads; ++i) {
    serving->threads_.emplace_back([pool = serving.get()] {
      pthread_setname_np(pthread_self(), "fuse");
      pool->Run();
    });
  }
  return serving;
}

ServingThreads::ServingThreads(UniqueFd epoll, UniqueFd stop) : epoll_(std::move(epoll)), stop_(std::move(stop)) {}

ServingThreads::~ServingThreads() {
  ::eventfd_write(stop_.get(), 1);
  for (std::thread& thread : threads_) thread.join();
}

Result<ServingThreads::Ticket> ServingThreads::Serve(std::shared_ptr<Session> session) {
  int device = session->device();
  Ticket ticket;
  {
    MutexLock lock(mutex_);
    ticket = ++last_ticket_;
    served_[ticket].session = std::move(session);
  }
  epoll_event event{EPOLLIN | EPOLLEXCLUSIVE, {.u64 = ticket}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, device, &event) == 0) return ticket;
  int error = errno;
  MutexLock lock(mutex_);
  served_.erase(ticket);
  return ErrnoStatus(error, "epoll_ctl on a FUSE descriptor");
}

void ServingThreads::Withdraw(Ticket ticket) {
  MutexLock lock(mutex_);
  auto found = served_.find(ticket);
  if (found == served_.end()) return;
  found->second.withdrawn = true;
  StopWatching(*found->second.session);
  while (found->second.threads > 0) left_.Wait(mutex_);
  served_.erase(found);
}

void ServingThreads::Run() {
  RequestBuffer buffer;
  for (;;) {
    epoll_event event;
    int ready = ::epoll_wait(epoll_.get(), &event, 1, -1);
    if (ready <= 0) continue;
    if (event.data.u64 == 0) return;
    ServeReady(event.data.u64, buffer);
  }
}

void ServingThreads::ServeReady(Ticket ticket, RequestBuffer& buffer) {
  std::shared_ptr<Session> session;
  {
    MutexLock lock(mutex_);
    auto found = served_.find(ticket);
    if (found == served_.end() || found->second.withdrawn) return;
    ++found->second.threads;
    session = found->second.session;
  }
  Session::Turn turn = Session::Turn::kServed;
  for (int i = 0; i < kTurns && turn == Session::Turn::kServed; ++i) turn = session->ServeOne(buffer);

  MutexLock lock(mutex_);
  Served& served = served_.at(ticket);
  // A dead connection is ready for ever.
  if (turn == Session::Turn::kEnded && !served.withdrawn) StopWatching(*session);
  if (--served.threads == 0) left_.NotifyAll();
}

void ServingThreads::StopWatching(const Session& session) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, session.device(), nullptr);
}

}  // namespace soci
