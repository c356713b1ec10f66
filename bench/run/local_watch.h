// Notices when the last byte of an image is on this host's disk, as the contestant's recipe says how, by asking ten
// times a second in a thread of its own; takes the point "fully local" then.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "bench/run/host.h"
#include "bench/run/timeline.h"

namespace soci::bench {

// The pure part: does our daemon's status say that every layer of some image is sealed, or was left to containerd?
bool StatusSaysLocal(std::string_view status_json);

class LocalWatch {
 public:
  // All of them outlive it.
  LocalWatch(const Contestant& contestant, const Host& host, Timeline& timeline);
  ~LocalWatch();

  bool done() const { return done_; }
  bool possible() const { return contestant_.local != Contestant::Local::kNever; }

 private:
  void Run();
  bool Ask() const;

  const Contestant& contestant_;
  const Host& host_;
  Timeline& timeline_;
  std::atomic<bool> done_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace soci::bench
