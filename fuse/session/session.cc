#define FUSE_USE_VERSION 312
#include "fuse/session/session.h"

#include <fuse3/fuse_lowlevel.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "fuse/session/callbacks.h"
#include "indexer/base/log.h"

namespace soci {
namespace {

ssize_t ReadDevice(int device, void* buffer, size_t size, void* session) {
  return static_cast<Session*>(session)->init().Read(device, buffer, size);
}

ssize_t WriteDevice(int device, iovec* parts, int count, void* session) {
  return static_cast<Session*>(session)->init().Write(device, parts, count);
}

void LogLine(fuse_log_level level, const char* format, va_list arguments) {
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  std::string_view text(line);
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  log::Write(level <= FUSE_LOG_ERR ? log::Level::kError : log::Level::kDebug, text);
}

}  // namespace

RequestBuffer::RequestBuffer() : buffer_(std::make_unique<fuse_buf>()) {}
RequestBuffer::~RequestBuffer() { std::free(buffer_->mem); }

Session::Session(LayerReader& layer, const SessionOptions& options, InitExchange init)
    : layer_(layer), options_(options), init_(std::move(init)) {}

Result<std::shared_ptr<Session>> Session::Make(LayerReader& layer, const SessionOptions& options, UniqueFd device,
                                               InitExchange init) {
  static std::once_flag logging;
  std::call_once(logging, [] { fuse_set_log_func(LogLine); });

  std::shared_ptr<Session> session(new Session(layer, options, std::move(init)));
  char name[] = "soci";
  char* arguments[] = {name, nullptr};
  fuse_args args = FUSE_ARGS_INIT(1, arguments);
  session->fuse_ = fuse_session_new(&args, &Callbacks(), sizeof(fuse_lowlevel_ops), session.get());
  fuse_opt_free_args(&args);  // libfuse copies and extends them
  // Each of them takes one of the process's 1024 thread-specific keys.
  if (!session->fuse_) return absl::ResourceExhaustedError("libfuse cannot make another session in this process");

  fuse_custom_io io{};
  io.read = ReadDevice;
  io.writev = WriteDevice;
  int rc = fuse_session_custom_io(session->fuse_, &io, device.get());
  if (rc != 0) return ErrnoStatus(rc < 0 ? -rc : rc, "giving libfuse its descriptor");
  device.Release();
  return session;
}

Session::~Session() {
  if (fuse_) fuse_session_destroy(fuse_);
}

int Session::device() const { return fuse_session_fd(fuse_); }

Session::Turn Session::ServeOne(RequestBuffer& buffer) {
  int size = fuse_session_receive_buf(fuse_, buffer.get());
  if (size == -EAGAIN || size == -EINTR || size == -ENOMEM) return Turn::kNothing;
  if (size <= 0) return Turn::kEnded;
  fuse_session_process_buf(fuse_, buffer.get());
  return Turn::kServed;
}

void Session::BeginRead() {
  MutexLock lock(mutex_);
  ++reads_;
}

void Session::EndRead() {
  MutexLock lock(mutex_);
  if (--reads_ == 0) reads_ended_.NotifyAll();
}

bool Session::WaitForReads(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (reads_ > 0) {
    if (!reads_ended_.WaitUntil(mutex_, deadline)) return reads_ == 0;
  }
  return true;
}

}  // namespace soci
