// One request on its way through libcurl: sets the easy handle up, hands the response on, keeps the limits.
//
// Internal to the transport. Pause, Resume and Cancel: any thread. Everything else: the network thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "indexer/net/http_transport.h"
#include "indexer/net/open_sockets.h"

namespace soci {

class CurlTransfer;

// What a transfer asks of the thread that drives it.
class TransferLoop {
 public:
  virtual ~TransferLoop() = default;
  // Runs on the network thread as soon as it can; after the loop has ended, never.
  virtual void Post(std::function<void()> task) = 0;
  virtual void FinishCancelled(const std::shared_ptr<CurlTransfer>& transfer) = 0;
};

class CurlTransfer final : public Transfer, public std::enable_shared_from_this<CurlTransfer> {
 public:
  using Clock = std::chrono::steady_clock;

  CurlTransfer(std::weak_ptr<TransferLoop> loop, HttpRequest request, std::shared_ptr<HttpExchange> exchange);
  ~CurlTransfer() override;

  void Pause() override;
  void Resume() override;
  void Cancel() override;

  // Makes `easy` (a clean handle) carry the request, on a connection among `sockets`. Not ok: the request cannot be
  // sent.
  Status Prepare(void* easy, const CurlTransportOptions& options, OpenSockets& sockets);
  void* easy() const { return easy_; }
  bool cancelled() const { return cancelled_.load(); }

  // Not ok when a limit is passed; called now and then.
  Status CheckLimits(Clock::time_point now);
  // Ends the exchange. `curl_code`: what libcurl says of the transfer.
  void FinishFromCurl(int curl_code);
  void Finish(Status status);

 private:
  static size_t OnHeader(char* data, size_t size, size_t count, void* self);
  static size_t OnWrite(char* data, size_t size, size_t count, void* self);
  static size_t OnRead(char* data, size_t size, size_t count, void* self);
  static int OnSeek(void* self, long long offset, int origin);
  static int OnConnected(void* self, char* peer, char* local, int peer_port, int local_port);

  Status TakeHeaderLine(std::string_view line);
  Status DeliverHead();
  Status PrepareTls(void* easy);
  std::string Where() const;
  void ApplyResume();
  void RestartStallWindow(Clock::time_point now);

  const std::weak_ptr<TransferLoop> loop_;
  const HttpRequest request_;
  std::atomic<bool> pause_wanted_ = false;
  std::atomic<bool> cancelled_ = false;

  // Network thread only.
  std::shared_ptr<HttpExchange> exchange_;
  void* easy_ = nullptr;            // CURL, owned by the loop
  OpenSockets* sockets_ = nullptr;  // the loop's
  void* header_list_ = nullptr;     // curl_slist
  char error_text_[256] = {};       // CURL_ERROR_SIZE
  std::string origin_;              // scheme://host:port, for messages
  HttpResponseHead head_;
  size_t header_bytes_ = 0;
  bool head_done_ = false;
  bool final_head_ = false;
  Status abort_;       // why a call-back ended the transfer
  bool held_ = false;  // libcurl keeps bytes back until ApplyResume
  uint64_t sent_ = 0;  // of the body
  Clock::time_point started_;
  Clock::time_point stall_since_;
  uint64_t stall_moved_ = 0;
};

}  // namespace soci
