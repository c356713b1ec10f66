#include "fuse/fetch/span_queue.h"

#include <algorithm>

namespace soci {

void SpanQueue::Push(const SpanJob& job) {
  jobs_.push_back(job);
  compressed_bytes_ += job.compressed;
}

std::optional<SpanJob> SpanQueue::Take(const std::function<bool(const SpanJob&)>& allowed) {
  auto best = jobs_.end();
  for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
    if (best != jobs_.end() && job->fetch_class >= best->fetch_class) continue;
    if (allowed(*job)) best = job;
  }
  if (best == jobs_.end()) return std::nullopt;
  return TakeAt(best);
}

std::optional<SpanJob> SpanQueue::TakeLeastUrgent() {
  auto worst = jobs_.end();
  for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
    if (worst == jobs_.end() || job->fetch_class >= worst->fetch_class) worst = job;
  }
  if (worst == jobs_.end() || worst->fetch_class == FetchClass::kDemand) return std::nullopt;
  return TakeAt(worst);
}

std::vector<SpanJob> SpanQueue::Remove(const SpanFetcher* fetcher, const std::function<bool(const SpanJob&)>& matches) {
  std::vector<SpanJob> removed;
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    auto next = std::next(job);
    if (job->fetcher == fetcher && matches(*job)) removed.push_back(TakeAt(job));
    job = next;
  }
  return removed;
}

void SpanQueue::Raise(const SpanFetcher* fetcher, SpanId span, FetchClass fetch_class) {
  for (SpanJob& job : jobs_) {
    if (job.fetcher == fetcher && job.span == span) job.fetch_class = std::min(job.fetch_class, fetch_class);
  }
}

SpanJob SpanQueue::TakeAt(std::list<SpanJob>::iterator place) {
  SpanJob job = *place;
  compressed_bytes_ -= job.compressed;
  jobs_.erase(place);
  return job;
}

}  // namespace soci
