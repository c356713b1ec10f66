#include "tests/fakes/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

namespace soci::test {
namespace {

constexpr size_t kRequestLimit = 64 << 20;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string Decode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      decoded += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

int Listen(uint16_t port) {
  int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("the scripted server cannot bind its port");
  }
  return listener;
}

std::string HeadOf(const Answer& answer) {
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " Scripted\r\n";
  for (const auto& [name, value] : answer.headers) head += name + ": " + value + "\r\n";
  bool bodyless = answer.status == 204 || answer.status == 304;
  if (!answer.without_length && !answer.endless && !bodyless) {
    bool given = std::any_of(answer.headers.begin(), answer.headers.end(),
                             [](const auto& field) { return Lower(field.first) == "content-length"; });
    if (!given)
      head += "Content-Length: " + std::to_string(answer.body.size() * static_cast<uint64_t>(answer.repeats)) + "\r\n";
  }
  if (answer.without_length || answer.endless) head += "Connection: close\r\n";
  return head + "\r\n";
}

}  // namespace

std::string SeenRequest::Header(const std::string& lower_case_name) const {
  auto found = headers.find(lower_case_name);
  return found == headers.end() ? "" : found->second;
}

std::vector<std::string> SeenRequest::Queries(std::string_view name) const {
  std::vector<std::string> values;
  size_t mark = target.find('?');
  std::string_view rest = mark == std::string::npos ? std::string_view() : std::string_view(target).substr(mark + 1);
  while (!rest.empty()) {
    std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    size_t equals = pair.find('=');
    if (equals != std::string_view::npos && Decode(pair.substr(0, equals)) == name) {
      values.push_back(Decode(pair.substr(equals + 1)));
    }
  }
  return values;
}

std::string SeenRequest::Query(std::string_view name) const {
  std::vector<std::string> values = Queries(name);
  return values.empty() ? "" : values.front();
}

// One client's socket, with or without TLS.
class ScriptedServer::Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {
    int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Connection() {
    if (ssl_ != nullptr) SSL_free(ssl_);
    ::close(socket_);
  }

  bool StartTls(SSL_CTX* context) {
    ssl_ = SSL_new(context);
    SSL_set_fd(ssl_, socket_);
    return SSL_accept(ssl_) == 1;
  }
  bool Write(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t count = ssl_ != nullptr
                          ? SSL_write(ssl_, bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), 1 << 20)))
                          : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }
  bool ReadMore(std::string& buffer) {
    char piece[16384];
    ssize_t count = ssl_ != nullptr ? SSL_read(ssl_, piece, sizeof piece) : ::recv(socket_, piece, sizeof piece, 0);
    if (count <= 0) return false;
    buffer.append(piece, static_cast<size_t>(count));
    return true;
  }
  // One whole request. False: the client has gone.
  bool ReadRequest(SeenRequest& request) {
    size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (buffer_.size() > kRequestLimit || !ReadMore(buffer_)) return false;
    }
    ParseHead(buffer_.substr(0, end + 2), request);
    buffer_.erase(0, end + 4);
    size_t length = std::strtoull(request.Header("content-length").c_str(), nullptr, 10);
    while (buffer_.size() < length) {
      if (length > kRequestLimit || !ReadMore(buffer_)) return false;
    }
    request.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return true;
  }
  // Returns when the client has closed its end, or the server closes this one.
  void WaitUntilGone() {
    pollfd wait{socket_, POLLRDHUP, 0};
    while (::poll(&wait, 1, -1) < 0 && errno == EINTR) {
    }
  }
  // RST instead of FIN.
  void Reset() {
    linger hard{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  }
  void ShutDown() { ::shutdown(socket_, SHUT_RDWR); }

 private:
  static void ParseHead(const std::string& head, SeenRequest& request) {
    size_t line_end = head.find("\r\n");
    std::string line = head.substr(0, line_end);
    size_t first = line.find(' '), last = line.rfind(' ');
    request.method = line.substr(0, first);
    request.target = first < last ? line.substr(first + 1, last - first - 1) : "";
    request.path = request.target.substr(0, request.target.find('?'));
    for (size_t at = line_end + 2; at < head.size();) {
      size_t stop = head.find("\r\n", at);
      size_t colon = head.find(':', at);
      if (colon != std::string::npos && colon < stop) {
        size_t value = head.find_first_not_of(' ', colon + 1);
        request.headers[Lower(head.substr(at, colon - at))] = head.substr(value, stop - value);
      }
      at = stop + 2;
    }
  }

  const int socket_;
  SSL* ssl_ = nullptr;
  std::string buffer_;
};

ScriptedServer::ScriptedServer(Script script, const TlsIdentity& identity) : script_(std::move(script)) {
  ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  if (!identity.certificate.empty()) {
    SSL_CTX* context = SSL_CTX_new(TLS_server_method());
    tls_ = std::shared_ptr<void>(context, [](void* held) { SSL_CTX_free(static_cast<SSL_CTX*>(held)); });
    bool loaded = SSL_CTX_use_certificate_chain_file(context, identity.certificate.c_str()) == 1 &&
                  SSL_CTX_use_PrivateKey_file(context, identity.key.c_str(), SSL_FILETYPE_PEM) == 1;
    if (!loaded) throw std::runtime_error("the scripted server cannot read its certificate");
  }
  Open();
}

ScriptedServer::~ScriptedServer() {
  Close();
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(mutex_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

void ScriptedServer::Open() {
  listener_ = Listen(port_);
  ::listen(listener_, 256);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  {
    std::lock_guard lock(mutex_);
    closed_ = false;
  }
  accepting_ = std::thread([this] { Accept(); });
}

void ScriptedServer::Close() {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    for (const auto& connection : connections_) {
      connection->Reset();
      connection->ShutDown();
    }
  }
  ::shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  ::close(listener_);
  listener_ = -1;
}

std::vector<SeenRequest> ScriptedServer::requests() const {
  std::lock_guard lock(mutex_);
  std::vector<SeenRequest> all;
  for (const auto& [number, request] : log_) all.push_back(request);
  return all;
}

void ScriptedServer::ForgetRequests() {
  std::lock_guard lock(mutex_);
  log_.clear();
}

void ScriptedServer::WaitForRequests(size_t count) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return read_ >= count; });
}

void ScriptedServer::Accept() {
  while (true) {
    int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0 && errno == EINTR) continue;
    if (socket < 0) return;
    auto connection = std::make_shared<Connection>(socket);
    std::lock_guard lock(mutex_);
    if (closed_) return;
    connections_.push_back(connection);
    threads_.emplace_back([this, connection] { Serve(connection); });
  }
}

void ScriptedServer::Serve(std::shared_ptr<Connection> connection) {
  bool open = tls_ == nullptr || connection->StartTls(static_cast<SSL_CTX*>(tls_.get()));
  while (open) {
    SeenRequest request;
    if (!connection->ReadRequest(request)) break;
    uint64_t entry = 0;
    {
      std::lock_guard lock(mutex_);
      entry = ++read_;
      log_[entry] = request;
      changed_.notify_all();
    }
    Answer answer = script_(request);
    open = Send(*connection, answer, request, entry);
  }
  std::lock_guard lock(mutex_);
  connections_.remove(connection);
}

void ScriptedServer::Note(uint64_t entry, const std::function<void(SeenRequest&)>& change) {
  std::lock_guard lock(mutex_);
  auto found = log_.find(entry);
  if (found != log_.end()) change(found->second);
}

bool ScriptedServer::Send(Connection& connection, const Answer& answer, const SeenRequest& request, uint64_t entry) {
  Note(entry, [&](SeenRequest& seen) { seen.status = answer.status; });
  if (answer.before) answer.before();
  if (answer.no_answer) {
    connection.WaitUntilGone();
    return false;
  }
  if (answer.reset_at == uint64_t{0} && answer.body.empty()) {
    connection.Reset();
    return false;
  }
  std::string head = HeadOf(answer);
  if (answer.stall_in_head) head.resize(head.size() / 2);
  if (!connection.Write(head)) return false;
  if (answer.stall_in_head) {
    connection.WaitUntilGone();
    return false;
  }
  if (request.method == "HEAD") return true;
  return SendBody(connection, answer, entry) && !answer.without_length;
}

bool ScriptedServer::SendBody(Connection& connection, const Answer& answer, uint64_t entry) {
  std::string flipped;
  if (answer.flip_bit_at && *answer.flip_bit_at < answer.body.size()) {
    flipped = answer.body;
    flipped[*answer.flip_bit_at] ^= 0x10;
  }
  std::string_view body = flipped.empty() ? answer.body : flipped;
  uint64_t stop = body.size();
  for (const auto& limit : {answer.reset_at, answer.end_at, answer.stall_at})
    stop = std::min(stop, limit.value_or(stop));
  size_t piece = answer.piece != 0 ? answer.piece : 65536;
  int round = 0;
  do {
    for (uint64_t sent = 0; sent < stop;) {
      size_t count = std::min<uint64_t>(piece, stop - sent);
      // Before the bytes go: who has read them finds them counted.
      Note(entry, [&](SeenRequest& seen) { seen.body_sent += count; });
      if (!connection.Write(body.substr(sent, count))) return false;
      sent += count;
      if (answer.piece != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } while (answer.endless || ++round < answer.repeats);
  if (answer.reset_at) connection.Reset();
  if (answer.stall_at) connection.WaitUntilGone();
  return !answer.reset_at && !answer.end_at && !answer.stall_at;
}

}  // namespace soci::test
