#include "snapshotter/daemon/stop_signals.h"

#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <mutex>

namespace soci {
namespace {

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGUSR2}) sigaddset(&signals, signal);
  return signals;
}

constexpr int kFailed = 1;

}  // namespace

StopSignals::StopSignals() {
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  thread_ = std::thread([this] {
    const sigset_t waited = Signals();
    for (int signal = 0; sigwait(&waited, &signal) == 0;) {
      if (signal == SIGUSR2) {
        if (ending_) return;
        continue;
      }
      if (!source_.request_stop()) ::_exit(kFailed);
    }
  });
}

StopSignals::~StopSignals() {
  ending_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
}

void StopSignals::Wait() {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait(lock, token(), [] { return false; });
}

}  // namespace soci
