#include "bench/run/timeline.h"

#include <algorithm>

namespace soci::bench {
namespace {

constexpr std::chrono::milliseconds kInterval(100);

}  // namespace

Timeline::Timeline(ReadTraffic read) : read_(std::move(read)), before_(read_()), thread_([this] { Run(); }) {}

Timeline::~Timeline() { Stop(); }

double Timeline::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Traffic Timeline::Now() const {
  const Traffic now = read_();
  return {now.bytes - before_.bytes, now.requests - before_.requests, now.connections - before_.connections};
}

bool Timeline::Has(const std::string& name) const {
  return std::any_of(points_.begin(), points_.end(), [&](const Point& point) { return point.name == name; });
}

void Timeline::Take(const std::string& name) {
  Point point{name, Seconds(), Now()};
  MutexLock lock(mutex_);
  if (!Has(name)) points_.push_back(std::move(point));
}

void Timeline::Repeat(const std::string& name, const std::string& as) {
  MutexLock lock(mutex_);
  for (size_t i = 0; i < points_.size(); ++i) {
    if (points_[i].name != name || Has(as)) continue;
    Point point = points_[i];
    point.name = as;
    points_.push_back(std::move(point));
    return;
  }
}

std::vector<Point> Timeline::points() const {
  MutexLock lock(mutex_);
  std::vector<Point> points = points_;
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& one, const Point& other) { return one.seconds < other.seconds; });
  return points;
}

void Timeline::Run() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    samples_.push_back({Seconds(), Now().bytes});
    wake_.WaitFor(mutex_, kInterval);
  }
  samples_.push_back({Seconds(), Now().bytes});
}

void Timeline::Stop() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

std::vector<ByteSample> Timeline::bytes_over_time() const {
  MutexLock lock(mutex_);
  return samples_;
}

}  // namespace soci::bench
