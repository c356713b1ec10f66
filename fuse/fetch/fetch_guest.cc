#include "fuse/fetch/fetch_guest.h"

#include <utility>

#include "fuse/fetch/fetch_scheduler.h"

namespace soci {

FetchGuest::FetchGuest(FetchScheduler& scheduler, std::string host, Listener& listener)
    : scheduler_(scheduler), host_(std::move(host)), listener_(listener) {
  MutexLock lock(scheduler_.mutex());
  scheduler_.AttachGuest(*this);
}

FetchGuest::~FetchGuest() {
  MutexLock lock(scheduler_.mutex());
  scheduler_.DetachGuest(*this);
  while (calls_ > 0) called_.Wait(scheduler_.mutex());
}

bool FetchGuest::TryEnter() {
  MutexLock lock(scheduler_.mutex());
  waits_ = !scheduler_.MayGuestStart(host_);
  told_ = false;
  if (waits_) return false;
  ++running_;
  return true;
}

void FetchGuest::Leave() {
  MutexLock lock(scheduler_.mutex());
  --running_;
  scheduler_.Signal();
}

}  // namespace soci
