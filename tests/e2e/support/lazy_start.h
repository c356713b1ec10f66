// The fixture of tests with the whole product: EndToEnd, and our daemon as containerd's snapshotter "soci". Images are
// pushed, indexed by soci-index and pulled by soci-snapshotter, through the link.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/support/daemon.h"
#include "tests/e2e/support/end_to_end.h"

namespace soci::test {

class LazyStart : public EndToEnd {
 protected:
  explicit LazyStart(std::vector<std::string> daemon_flags = {});

  // containerd renews a connection that was refused, or that broke, only after some seconds of back-off.
  void WaitForSnapshotter();
  // Pushes and indexes: every layer whatever its size, in spans of 64 KiB unless flags say otherwise. The name for
  // pulling.
  std::string PushIndexed(const TestImage& image, const std::string& repository,
                          std::vector<std::string> flags = {"--min-layer-size=0", "--span-size=64KiB"});
  // soci-snapshotter pull; fails the test with what it said.
  void PullLazily(const std::string& reference);
  // What a container of the image prints for this command.
  std::string Output(const std::string& reference, std::vector<std::string> command);
  // Freezes the registry and starts the command in a running container; returns when it waits for the registry.
  std::unique_ptr<Process> FreezeUnder(const std::string& container, std::vector<std::string> command);
  // "sealed", "deferred" and so on, of the layers that status knows, each with "digest: " before it.
  std::vector<std::string> LayerStates();
  std::string StateOf(const ImageLayer& layer);
  // What soci-snapshotter status prints.
  std::string Status() const;
  // soci-snapshotter record on this containerd and daemon, with these arguments.
  std::vector<std::string> RecordLine(const std::vector<std::string>& arguments) const;

  Daemon daemon_;

 private:
  int containers_ = 0;
};

// A value on the metrics page of a daemon that serves it there; -1 if it is not there.
double MetricValue(const std::string& address, const std::string& name);

// Nothing is fetched that nobody asked for: for tests that count.
std::vector<std::string> OnDemandOnly();

}  // namespace soci::test
