// SIGINT and SIGTERM as a stop token. Made first thing in main, before any thread, so that no other thread gets them.
//
// The second signal ends the process at once, for those who cannot wait.
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace soci {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  // Blocks until a signal came.
  void Wait();

 private:
  std::stop_source source_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace soci
