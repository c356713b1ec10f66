// A web server on loopback whose every byte a test decides: HTTP/1.1, with TLS if wanted, one thread per connection.
//
// The script answers each request; an Answer can break off, stall, lie or never end. Each request is logged with its
// headers and with the number of body bytes that were sent. The script runs on the connections' threads: it locks what
// it shares. The destructor ends everything, also what stalls.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace soci::test {

struct SeenRequest {
  std::string method;
  std::string target;  // path and query as sent
  std::string path;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  // Of the answer.
  int status = 0;
  uint64_t body_sent = 0;

  std::string Header(const std::string& lower_case_name) const;
  // A parameter of the query, decoded; "" if missing.
  std::string Query(std::string_view name) const;
  // All values of a parameter.
  std::vector<std::string> Queries(std::string_view name) const;
};

struct Answer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  // Content-Length is added unless the test says otherwise.
  bool without_length = false;
  // The body is sent so many times in a row, for bodies that are too large to hold.
  int repeats = 1;

  // What goes wrong. Positions count bytes of the body.
  bool no_answer = false;                    // the request is read, then silence
  std::optional<uint64_t> reset_at = {};     // the connection is reset
  std::optional<uint64_t> end_at = {};       // the connection is closed in good order, too early
  std::optional<uint64_t> stall_at = {};     // then silence until the client goes
  std::optional<uint64_t> flip_bit_at = {};  // one bit of this byte
  bool endless = false;                      // the body is sent again and again
  bool stall_in_head = false;                // half of the head, then silence
  size_t piece = 0;                          // bytes sent at a time, with a short rest between; 0: as fast as can be
  std::function<void()> before = {};         // called before anything is sent; may wait

  Answer& With(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
    return *this;
  }
};

// PEM files; empty: no TLS.
struct TlsIdentity {
  std::string certificate;
  std::string key;
};

class ScriptedServer {
 public:
  using Script = std::function<Answer(const SeenRequest&)>;

  explicit ScriptedServer(Script script, const TlsIdentity& identity = {});
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  // "127.0.0.1:port".
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return (tls_ ? "https://" : "http://") + host(); }

  // In the order in which they came; what is said of an answer may still grow.
  std::vector<SeenRequest> requests() const;
  // Waits until `count` requests have been read (not answered).
  void WaitForRequests(size_t count) const;
  void ForgetRequests();
  // Nobody listens any more, and every connection is reset. The port stays ours: Open brings it back.
  void Close();
  void Open();

 private:
  class Connection;

  void Accept();
  void Serve(std::shared_ptr<Connection> connection);
  bool Send(Connection& connection, const Answer& answer, const SeenRequest& request, uint64_t entry);
  bool SendBody(Connection& connection, const Answer& answer, uint64_t entry);
  void Note(uint64_t entry, const std::function<void(SeenRequest&)>& change);

  const Script script_;
  std::shared_ptr<void> tls_;  // SSL_CTX
  uint16_t port_ = 0;
  int listener_ = -1;
  std::thread accepting_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::list<std::shared_ptr<Connection>> connections_;
  std::vector<std::thread> threads_;
  std::map<uint64_t, SeenRequest> log_;  // by number
  size_t read_ = 0;
  bool closed_ = false;
  bool stopping_ = false;
};

}  // namespace soci::test
