#include "indexer/net/curl_transfer.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "indexer/base/file_io.h"
#include "indexer/base/units.h"
#include "indexer/net/text.h"
#include "indexer/net/url.h"

namespace soci {
namespace {

// All header lines of one response; a server that sends more is not talking to us.
constexpr size_t kHeaderLimit = 256_KiB;

static_assert(CURL_ERROR_SIZE <= 256);

curl_socket_t OpenSocket(void* sockets, curlsocktype, curl_sockaddr* address) {
  return static_cast<OpenSockets*>(sockets)->Open(address->family, address->socktype, address->protocol);
}

int CloseSocket(void* sockets, curl_socket_t socket) { return static_cast<OpenSockets*>(sockets)->Close(socket); }

Status StatusFromCurl(CURLcode code, const char* detail, const std::string& where) {
  // Only codes whose text cannot hold a URL carry curl's own detail.
  const char* text = curl_easy_strerror(code);
  switch (code) {
    case CURLE_OK:
      return OkStatus();
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
      return absl::UnavailableError(fmt::format("{}: {}", where, detail[0] != '\0' ? detail : text));
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
      return absl::FailedPreconditionError(fmt::format("{}: {}", where, detail[0] != '\0' ? detail : text));
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return absl::InvalidArgumentError(fmt::format("{}: {}", where, text));
    case CURLE_OUT_OF_MEMORY:
      return absl::ResourceExhaustedError(fmt::format("{}: {}", where, text));
    default:
      return absl::UnavailableError(fmt::format("{}: {}", where, text));
  }
}

// The system's roots stay trusted (by directory); these come on top.
Result<std::string> ReadPemFiles(const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& path : paths) {
    Result<std::string> pem = ReadFile(path, 4_MiB);
    if (!pem.ok()) return absl::FailedPreconditionError(fmt::format("CA file: {}", Message(pem.status())));
    all += *pem;
    all += '\n';
  }
  return all;
}

}  // namespace

CurlTransfer::CurlTransfer(std::weak_ptr<TransferLoop> loop, HttpRequest request,
                           std::shared_ptr<HttpExchange> exchange)
    : loop_(std::move(loop)), request_(std::move(request)), exchange_(std::move(exchange)) {}

CurlTransfer::~CurlTransfer() { curl_slist_free_all(static_cast<curl_slist*>(header_list_)); }

void CurlTransfer::Pause() { pause_wanted_ = true; }

void CurlTransfer::Resume() {
  if (!pause_wanted_.exchange(false)) return;
  if (auto loop = loop_.lock()) loop->Post([self = shared_from_this()] { self->ApplyResume(); });
}

void CurlTransfer::Cancel() {
  if (cancelled_.exchange(true)) return;
  if (auto loop = loop_.lock()) {
    loop->Post([self = shared_from_this(), weak = loop_] {
      if (auto live = weak.lock()) live->FinishCancelled(self);
    });
  }
}

void CurlTransfer::ApplyResume() {
  if (easy_ == nullptr || !held_ || pause_wanted_) return;
  held_ = false;
  RestartStallWindow(Clock::now());
  curl_easy_pause(static_cast<CURL*>(easy_), CURLPAUSE_CONT);
}

std::string CurlTransfer::Where() const { return fmt::format("{} {}", request_.method, origin_); }

Status CurlTransfer::Prepare(void* handle, const CurlTransportOptions& options, OpenSockets& sockets) {
  SOCI_ASSIGN_OR_RETURN(Url url, Url::Parse(request_.url));
  origin_ = url.Origin();
  sockets_ = &sockets;
  CURL* easy = static_cast<CURL*>(handle);
  curl_easy_setopt(easy, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, options.buffer_size);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.limits.connect.count()));
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &OpenSocket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &sockets);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &CloseSocket);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, &sockets);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &CurlTransfer::OnConnected);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text_);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &CurlTransfer::OnHeader);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &CurlTransfer::OnWrite);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  if (request_.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  } else if (request_.body != nullptr || request_.method == "PUT" || request_.method == "POST" ||
             request_.method == "PATCH") {
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request_.body ? request_.body_length : 0));
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, &CurlTransfer::OnRead);
    curl_easy_setopt(easy, CURLOPT_READDATA, this);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, &CurlTransfer::OnSeek);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, this);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  } else {
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
  curl_slist* list = curl_slist_append(nullptr, "Expect:");
  for (const auto& [name, value] : request_.headers.fields()) {
    if (name.find_first_of("\r\n") != std::string::npos || value.find_first_of("\r\n") != std::string::npos) {
      curl_slist_free_all(list);
      return absl::InvalidArgumentError(fmt::format("{}: a request header with a line break in it", Where()));
    }
    list = curl_slist_append(list, (value.empty() ? name + ";" : name + ": " + value).c_str());
  }
  header_list_ = list;
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  SOCI_RETURN_IF_ERROR(PrepareTls(easy));
  easy_ = easy;
  started_ = Clock::now();
  RestartStallWindow(started_);
  return OkStatus();
}

Status CurlTransfer::PrepareTls(void* handle) {
  if (request_.tls == nullptr) return OkStatus();
  CURL* easy = static_cast<CURL*>(handle);
  const TlsOptions& tls = *request_.tls;
  if (tls.skip_verify) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (!tls.ca_files.empty()) {
    Result<std::string> pem = ReadPemFiles(tls.ca_files);
    if (!pem.ok()) return Annotate(pem.status(), Where());
    curl_blob blob{pem->data(), pem->size(), CURL_BLOB_COPY};
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
  }
  if (!tls.client_certificate.empty()) {
    curl_easy_setopt(easy, CURLOPT_SSLCERT, tls.client_certificate.c_str());
    const std::string& key = tls.client_key.empty() ? tls.client_certificate : tls.client_key;
    curl_easy_setopt(easy, CURLOPT_SSLKEY, key.c_str());
  }
  return OkStatus();
}

// Comes before each request, also on a connection that has carried others.
int CurlTransfer::OnConnected(void* self, char*, char*, int, int local_port) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  const int socket = transfer->sockets_->FindByLocalPort(local_port);
  if (socket >= 0) BoundReceiveBuffer(socket, transfer->request_.receive_window);
  return CURL_PREREQFUNC_OK;
}

size_t CurlTransfer::OnHeader(char* data, size_t size, size_t count, void* self) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  if (transfer->cancelled_) return 0;
  Status status = transfer->TakeHeaderLine({data, size * count});
  if (status.ok()) return size * count;
  transfer->abort_ = std::move(status);
  return size * count == 0 ? 1 : 0;
}

Status CurlTransfer::TakeHeaderLine(std::string_view line) {
  if (final_head_) return OkStatus();  // trailers
  header_bytes_ += line.size();
  if (header_bytes_ > kHeaderLimit) return absl::UnavailableError(fmt::format("{}: endless headers", Where()));
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/") && head_.headers.empty()) {
    size_t space = line.find(' ');
    std::string_view rest = space == std::string_view::npos ? "" : Trim(line.substr(space + 1));
    std::optional<uint64_t> code = ParseDecimal(rest.substr(0, 3));
    if (!code) return absl::UnavailableError(fmt::format("{}: a malformed status line", Where()));
    head_.status = static_cast<int>(*code);
    return OkStatus();
  }
  if (!line.empty()) {
    size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return OkStatus();  // a folded or broken line: not for us
    head_.headers.Add(std::string(line.substr(0, colon)), std::string(Trim(line.substr(colon + 1))));
    return OkStatus();
  }
  if (head_.status / 100 == 1) {  // interim: the real head follows
    head_ = {};
    return OkStatus();
  }
  final_head_ = true;
  RestartStallWindow(Clock::now());
  return DeliverHead();
}

Status CurlTransfer::DeliverHead() {
  head_done_ = true;
  return exchange_->OnHead(head_);
}

size_t CurlTransfer::OnWrite(char* data, size_t size, size_t count, void* self) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  size_t bytes = size * count;
  if (transfer->cancelled_) return bytes == 0 ? 1 : 0;
  if (transfer->pause_wanted_) {
    transfer->held_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  transfer->stall_moved_ += bytes;
  Status status = transfer->exchange_->OnBody({reinterpret_cast<const std::byte*>(data), bytes});
  if (status.ok()) return bytes;
  transfer->abort_ = std::move(status);
  return bytes == 0 ? 1 : 0;
}

size_t CurlTransfer::OnRead(char* data, size_t size, size_t count, void* self) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  const HttpRequest& request = transfer->request_;
  if (transfer->cancelled_) return CURL_READFUNC_ABORT;
  if (request.body == nullptr) return 0;
  size_t wanted = std::min<uint64_t>(size * count, request.body_length - transfer->sent_);
  MutableByteSpan out(reinterpret_cast<std::byte*>(data), wanted);
  if (Status status = request.body->ReadAt(request.body_offset + transfer->sent_, out, {}); !status.ok()) {
    transfer->abort_ = Annotate(status, "reading what is to be sent");
    return CURL_READFUNC_ABORT;
  }
  transfer->sent_ += wanted;
  transfer->stall_moved_ += wanted;
  return wanted;
}

int CurlTransfer::OnSeek(void* self, long long offset, int origin) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_CANTSEEK;
  transfer->sent_ = static_cast<uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

void CurlTransfer::RestartStallWindow(Clock::time_point now) {
  stall_since_ = now;
  stall_moved_ = 0;
}

Status CurlTransfer::CheckLimits(Clock::time_point now) {
  const HttpLimits& limits = request_.limits;
  if (limits.total.count() > 0 && now - started_ >= limits.total) {
    return absl::DeadlineExceededError(fmt::format("{}: not done within {} ms", Where(), limits.total.count()));
  }
  if (held_ || pause_wanted_) {
    RestartStallWindow(now);
    return OkStatus();
  }
  bool sending = request_.body != nullptr && sent_ < request_.body_length;
  if (!head_done_ && !sending) {
    // While a body is being sent the answer is not due yet; its own wait starts when the last byte has left.
    Clock::time_point since = request_.body != nullptr ? stall_since_ : started_;
    if (now - since < limits.header) return OkStatus();
    return absl::UnavailableError(fmt::format("{}: no answer within {} ms", Where(), limits.header.count()));
  }
  if (now - stall_since_ < limits.stall) return OkStatus();
  if (stall_moved_ < limits.stall_bytes) {
    return absl::UnavailableError(
        fmt::format("{}: stalled, {} bytes within {} ms", Where(), stall_moved_, limits.stall.count()));
  }
  RestartStallWindow(now);
  return OkStatus();
}

void CurlTransfer::FinishFromCurl(int curl_code) {
  if (cancelled_) return Finish(absl::CancelledError(Where() + ": cancelled"));
  if (!abort_.ok()) return Finish(abort_);
  Status status = StatusFromCurl(static_cast<CURLcode>(curl_code), error_text_, Where());
  if (status.ok() && !head_done_) status = absl::UnavailableError(Where() + ": the connection ended without an answer");
  Finish(std::move(status));
}

void CurlTransfer::Finish(Status status) {
  easy_ = nullptr;
  std::shared_ptr<HttpExchange> exchange = std::move(exchange_);
  if (exchange) exchange->OnDone(std::move(status));
}

}  // namespace soci
