// A containerd of the test's own: root, state, socket and configuration in the sandbox, our snapshotter as proxy
// plugin, the sandbox's name as namespace. And ctr, told to talk to it.
//
// The binaries come from PATH, or from the folder in SOCI_TEST_CONTAINERD_DIR (containerd 2, for example). The
// constructor returns once the daemon answers; the destructor stops containers, tasks and the daemon.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/support/process.h"
#include "tests/e2e/support/sandbox.h"

namespace soci::test {

class Containerd {
 public:
  // `snapshotter_socket` need not exist yet; containerd knows it by `snapshotter`.
  Containerd(const Sandbox& sandbox, std::string snapshotter_socket, const std::string& snapshotter = "soci");
  ~Containerd();

  const std::string& address() const { return address_; }
  const std::string& name_space() const { return namespace_; }
  pid_t pid() const { return process_->pid(); }
  int major_version() const { return major_version_; }

  void Stop();
  void Start();

  CommandResult Ctr(std::vector<std::string> arguments, std::chrono::seconds timeout = std::chrono::seconds(60)) const;
  // ctr images pull --plain-http.
  CommandResult Pull(const std::string& snapshotter, const std::string& reference) const;
  // ctr run: in the foreground and removed afterwards, or detached.
  CommandResult Run(const std::string& snapshotter, const std::string& reference, const std::string& id,
                    std::vector<std::string> command, std::chrono::seconds timeout = std::chrono::seconds(60)) const;
  // ctr run as a program in the background, its output going to `log`.
  std::unique_ptr<Process> StartRun(const std::string& snapshotter, const std::string& reference, const std::string& id,
                                    std::vector<std::string> command, const std::string& log) const;
  CommandResult RunDetached(const std::string& snapshotter, const std::string& reference, const std::string& id,
                            std::vector<std::string> command) const;
  CommandResult Exec(const std::string& id, std::vector<std::string> command,
                     std::chrono::seconds timeout = std::chrono::seconds(60)) const;
  // An exec as a program in the background, its output going to `log`.
  std::unique_ptr<Process> StartExec(const std::string& id, std::vector<std::string> command,
                                     const std::string& log) const;
  // Ends a detached container and waits until it is gone.
  void RemoveContainer(const std::string& id) const;
  // Removes an image and lets the collector finish.
  CommandResult RemoveImage(const std::string& reference) const;
  // Removes every image, and with them all snapshots and content.
  void RemoveAllImages() const;

  // ctr or containerd, as it is called; and what each program that belongs to this containerd has to be started with.
  static std::string Program(const std::string& name);
  ProcessOptions Options() const;

 private:
  void WriteConfig(const std::string& snapshotter_socket, const std::string& snapshotter) const;
  std::vector<std::string> CtrLine(std::vector<std::string> arguments) const;
  std::vector<std::string> RunArguments(const std::string& flag, const std::string& snapshotter,
                                        const std::string& reference, const std::string& id,
                                        std::vector<std::string> command) const;
  std::vector<std::string> ExecArguments(const std::string& id, std::vector<std::string> command) const;
  std::vector<std::string> Names(std::vector<std::string> arguments) const;

  const std::string folder_;
  const std::string address_;
  const std::string namespace_;
  int major_version_ = 1;
  mutable int execs_ = 0;
  std::unique_ptr<Process> process_;
};

}  // namespace soci::test
