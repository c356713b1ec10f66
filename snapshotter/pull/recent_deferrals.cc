#include "snapshotter/pull/recent_deferrals.h"

#include <algorithm>
#include <utility>

namespace soci {

void RecentDeferrals::Add(std::string image, std::string layer, std::string reason) {
  Deferral deferral{std::move(image), std::move(layer), std::move(reason), 1, clock_.WallNow()};
  MutexLock lock(mutex_);
  auto same = std::find_if(deferrals_.begin(), deferrals_.end(), [&](const Deferral& other) {
    return other.image == deferral.image && other.layer == deferral.layer && other.reason == deferral.reason;
  });
  if (same != deferrals_.end()) {
    deferral.times = same->times + 1;
    deferrals_.erase(same);
  }
  deferrals_.push_back(std::move(deferral));
  if (deferrals_.size() > limit_) deferrals_.pop_front();
}

std::vector<Deferral> RecentDeferrals::List() const {
  MutexLock lock(mutex_);
  return {deferrals_.begin(), deferrals_.end()};
}

}  // namespace soci
