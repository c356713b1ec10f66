// The words of HTTP that travel between the transport and its users: headers, a request, the head of a response.
// Values.
//
// Header names compare without regard to case, as HTTP wants. Nothing here may be logged whole: requests carry secrets.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace soci {

class ByteSource;

class HttpHeaders {
 public:
  using Field = std::pair<std::string, std::string>;

  void Add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  // Replaces every field of that name.
  void Set(std::string name, std::string value);
  void Remove(std::string_view name);
  // The first field's value.
  std::optional<std::string_view> Find(std::string_view name) const;
  std::vector<std::string_view> FindAll(std::string_view name) const;
  // Content-Length as a number; none if missing or malformed.
  std::optional<uint64_t> ContentLength() const;
  // Content-Type without parameters, in lower case; "" if missing.
  std::string MediaType() const;

  const std::vector<Field>& fields() const { return fields_; }
  bool empty() const { return fields_.empty(); }

 private:
  std::vector<Field> fields_;
};

// Whom to trust and who we are. The system's roots are always trusted; `ca_files` come on top.
struct TlsOptions {
  std::vector<std::string> ca_files;  // PEM
  std::string client_certificate;     // PEM file; empty: none
  std::string client_key;             // PEM file; empty: it is in client_certificate
  bool skip_verify = false;

  bool operator==(const TlsOptions&) const = default;
};

// Each limit ends one transfer, not the operation that may try again. Time in which a transfer is paused does not
// count.
struct HttpLimits {
  std::chrono::milliseconds connect = std::chrono::seconds(10);
  // From the start of the transfer to the end of the response's head.
  std::chrono::milliseconds header = std::chrono::seconds(15);
  // In each stretch of this length at least `stall_bytes` must arrive (or, for a request with a body, leave). 4 KiB in
  // 10 s cuts a dead body and lets a link of 10 KiB/s work.
  std::chrono::milliseconds stall = std::chrono::seconds(10);
  uint64_t stall_bytes = 4096;
  // The whole transfer; zero: no limit.
  std::chrono::milliseconds total{0};
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  HttpHeaders headers;
  // Sent as the request's body: [body_offset, body_offset + body_length). Read on the network thread: must not block.
  std::shared_ptr<const ByteSource> body;
  uint64_t body_offset = 0;
  uint64_t body_length = 0;
  std::shared_ptr<const TlsOptions> tls;  // null: the system's roots
  HttpLimits limits;
  // At most about so many bytes of the answer may lie unread in this machine's kernel, or be on their way when the
  // transfer is paused. 0: as the kernel sees fit, which may be tens of MiB.
  uint32_t receive_window = 0;
};

struct HttpResponseHead {
  int status = 0;
  HttpHeaders headers;
};

}  // namespace soci
