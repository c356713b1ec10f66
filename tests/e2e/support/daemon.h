// Our snapshotter as a daemon of the test's own: state, run directory, sockets and registry settings in the sandbox.
//
// The constructor returns once it answers. Flags come on top of the sandbox's own, "--fetch.fill=false" for example.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/support/containerd.h"
#include "tests/e2e/support/process.h"
#include "tests/e2e/support/sandbox.h"

namespace soci::test {

class Daemon {
 public:
  explicit Daemon(const Sandbox& sandbox, std::vector<std::string> flags = {});

  std::string socket() const { return SocketIn(run_); }
  const std::string& state() const { return state_; }
  const std::string& run() const { return run_; }
  std::string Log() const;
  pid_t pid() const { return process_->pid(); }
  bool Running() { return process_->Running(); }

  void Start();
  // From the next start on, no more descriptors may be open; 0: as many as the test may have.
  void LimitDescriptors(unsigned limit) { descriptor_limit_ = limit; }
  // From the next start on; of two that are about the same key the later one counts.
  void AddFlag(const std::string& flag) { flags_.push_back(flag); }
  int Stop() { return process_->Stop(); }
  void Kill() { process_->Kill(); }

  // The registry at HOST:PORT speaks HTTP, for the daemon.
  void UsePlainHttp(const std::string& host) const;

  // soci-snapshotter pull.
  CommandResult Pull(const Containerd& containerd, const std::string& reference) const;

  struct Layer {
    std::string digest;
    std::string state;
    std::string reason;
    int percent = 0;
    std::string directory;
  };
  // Of all images, as soci-snapshotter status --json tells.
  std::vector<Layer> Layers() const;
  // Waits until every layer that it provides is sealed.
  bool WaitUntilSealed(std::chrono::seconds timeout = std::chrono::seconds(60)) const;

  // Where a daemon of this sandbox listens, whether there is one or not.
  static std::string SocketOf(const Sandbox& sandbox) { return SocketIn(sandbox / "run"); }
  // A program of this build, "soci-index" for example.
  static std::string Program(const std::string& name);

 private:
  static std::string SocketIn(const std::string& run) { return run + "/soci-snapshotter.sock"; }

  const std::string folder_;
  const std::string state_;
  const std::string run_;
  std::vector<std::string> flags_;
  unsigned descriptor_limit_ = 0;
  std::unique_ptr<Process> process_;
};

// soci-index create --plain-http.
CommandResult CreateIndex(const std::string& reference, std::vector<std::string> flags = {});

}  // namespace soci::test
