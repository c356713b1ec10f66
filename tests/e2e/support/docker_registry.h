// Debian's docker-registry on loopback, with its storage and its log in the sandbox. Keeps its port over a restart.
//
// The constructor returns once it answers. Its access log is the witness of what was really asked for:
// LoggedRequests().
#pragma once

#include <signal.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/support/process.h"
#include "tests/e2e/support/sandbox.h"

namespace soci::test {

struct LoggedRequest {
  std::string method;
  std::string path;  // with the query
  int status = 0;
  uint64_t bytes = 0;  // of the body
  std::string user_agent;
};

struct DockerRegistryOptions {
  std::string folder = "registry";  // in the sandbox: a test may run several
  std::string htpasswd = {};        // contents of the file; empty: everybody may
  std::string certificate = {};     // PEM files: the registry speaks TLS
  std::string key = {};
  uint16_t port = 0;              // 0: any
  std::string proxy_remote = {};  // a pull-through cache of the registry at this URL
};

class DockerRegistry {
 public:
  explicit DockerRegistry(const Sandbox& sandbox, DockerRegistryOptions options = {});

  uint16_t port() const { return port_; }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return (options_.certificate.empty() ? "http://" : "https://") + host(); }

  void Stop();
  void Start();
  // Stops and continues the process: connections stay, nothing is answered.
  void Freeze() { process_->Signal(SIGSTOP); }
  void Thaw() { process_->Signal(SIGCONT); }

  // Requests that were answered, in the order of their answers, without those that only ask whether it lives.
  std::vector<LoggedRequest> LoggedRequests() const;
  // GETs of this blob.
  std::vector<LoggedRequest> BlobGets(std::string_view digest) const;
  // Sum of the bodies of all GETs of blobs.
  uint64_t BlobBytes() const;
  // Forgets what was logged so far.
  void ForgetRequests();

 private:
  std::string Config() const;
  std::string ReadLog() const;

  const DockerRegistryOptions options_;
  const std::string folder_;
  uint16_t port_ = 0;
  size_t forgotten_ = 0;  // bytes of the log
  std::unique_ptr<Process> process_;
};

// A line of an htpasswd file: bcrypt, as the registry wants it.
std::string HtpasswdLine(const std::string& user, const std::string& password);

}  // namespace soci::test
