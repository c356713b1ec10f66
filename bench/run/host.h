// A host on which an image has never been: a containerd and the contestant's snapshotter, both of this run's own in the
// sandbox; or this machine's containerd with what is plugged into it, in a namespace of this run's own.
//
// The constructor returns when both answer; the destructor removes containers, images and daemons. Failures throw
// std::runtime_error with what the daemon said. One thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/run/child.h"
#include "bench/run/command_line.h"
#include "bench/run/contestant.h"
#include "tests/e2e/support/containerd.h"
#include "tests/e2e/support/sandbox.h"

namespace soci::bench {

struct HostOptions {
  std::string containerd = {};    // address of this machine's; empty: one of its own
  std::string admin_socket = {};  // of this machine's soci-snapshotter
  std::string programs = {};      // folder of ours
  std::string records = {};       // folder with what a daemon of ours recorded before; empty: nothing
};

// Where an image is pulled from.
struct ImageAddress {
  std::string reference;
  bool plain_http = true;

  std::string host() const { return reference.substr(0, reference.find('/')); }
};

class Host {
 public:
  Host(const test::Sandbox& sandbox, const Contestant& contestant, const ImageAddress& image, HostOptions options);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const Values& values() const { return values_; }
  // A line of the contestant's recipe, ready to be run.
  std::vector<std::string> Line(const std::string& line) const;
  std::vector<std::string> CtrLine(std::vector<std::string> arguments) const;
  // Environment that every program which belongs to this containerd needs.
  std::map<std::string, std::string> environment() const;
  // The daemons that work for the pull, by name.
  std::map<std::string, pid_t> processes() const;
  std::string admin_socket() const { return admin_socket_; }
  uint16_t metrics_port() const { return metrics_port_; }

  // Ends recordings, and puts what was recorded into the folder. Only a daemon of ours and of its own.
  void SaveRecords(const std::string& folder) const;

  // As a crash would: killed, and started again by whoever watches over it. Only a daemon of its own.
  void KillDaemon();
  // As its package would: ended in order, and started again. Only a daemon of its own.
  void UpgradeDaemon();

  // Stops the containerd of its own and starts it again, `between` between the two.
  template <typename Function>
  void RestartContainerd(Function between) {
    if (containerd_) containerd_->Stop();
    between();
    if (containerd_) containerd_->Start();
  }

 private:
  void StartDaemon();
  void CleanNamespace() const;
  std::vector<std::string> Names(std::vector<std::string> arguments) const;

  const Contestant contestant_;
  const HostOptions options_;
  const std::string folder_;
  uint16_t metrics_port_ = 0;
  Values values_;
  std::string admin_socket_;
  std::unique_ptr<test::Process> daemon_;
  std::unique_ptr<test::Containerd> containerd_;
};

}  // namespace soci::bench
