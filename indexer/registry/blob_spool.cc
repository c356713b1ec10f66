#include "indexer/registry/blob_spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "indexer/base/file_io.h"
#include "indexer/base/log.h"
#include "indexer/base/units.h"

namespace soci {
namespace {

// Downloaded bytes that wait for the disk; beyond it the download pauses.
constexpr uint64_t kQueueLimit = 8_MiB;
constexpr size_t kPiece = 256_KiB;

// A file without a name: it cannot outlive the process.
UniqueFd OpenNamelessFile(const std::string& directory) {
  UniqueFd file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  std::string name = directory + "/spool-XXXXXX";
  UniqueFd named(::mkostemp(name.data(), O_CLOEXEC));
  if (named) ::unlink(name.c_str());
  return named;
}

}  // namespace

class BlobSpool::DownloadSink final : public ByteSink {
 public:
  DownloadSink(std::shared_ptr<BlobSpool> spool, uint64_t number) : spool_(std::move(spool)), number_(number) {}
  Status OnBytes(ByteSpan bytes) override {
    spool_->OnDownloaded(number_, bytes);
    return OkStatus();
  }
  void OnEnd(Status status) override { spool_->OnDownloadEnd(number_, std::move(status)); }

 private:
  const std::shared_ptr<BlobSpool> spool_;
  const uint64_t number_;
};

class BlobSpool::Reader final : public Transfer {
 public:
  Reader(std::weak_ptr<BlobSpool> spool, uint64_t begin, uint64_t end, std::shared_ptr<ByteSink> out)
      : position(begin), limit(end), sink(std::move(out)), spool_(std::move(spool)) {}

  void Pause() override { paused = true; }
  void Resume() override {
    paused = false;
    if (auto spool = spool_.lock()) spool->Wake();
  }
  void Cancel() override {
    cancelled = true;
    if (auto spool = spool_.lock()) spool->Wake();
  }

  uint64_t position;  // the spool's thread
  const uint64_t limit;
  std::shared_ptr<ByteSink> sink;
  std::atomic<bool> paused = false;
  std::atomic<bool> cancelled = false;

 private:
  const std::weak_ptr<BlobSpool> spool_;
};

BlobSpool::BlobSpool(oci::Descriptor blob, std::string directory, ThreadPool& threads, StartDownload start)
    : blob_(std::move(blob)), directory_(std::move(directory)), threads_(threads), start_(std::move(start)) {}

bool BlobSpool::active() const {
  MutexLock lock(mutex_);
  return state_ == State::kRunning || state_ == State::kComplete;
}

bool BlobSpool::unusable() const {
  MutexLock lock(mutex_);
  return state_ == State::kUnusable;
}

bool BlobSpool::Start() {
  uint64_t number = 0;
  {
    MutexLock lock(mutex_);
    if (state_ == State::kUnusable) return false;
    if (state_ != State::kIdle) return true;
    file_ = OpenNamelessFile(directory_);
    if (!file_) {
      state_ = State::kUnusable;
      log::Warning("no file can be made in {}; a server that ignores ranges will be slow", directory_);
      return false;
    }
    state_ = State::kRunning;
    number = ++download_number_;
    written_ = queued_ = 0;
    queue_.clear();
    ended_ = paused_ = false;
    end_ = OkStatus();
  }
  hasher_ = oci::Hasher();
  log::Info("blob {}: the server ignores ranges, it is downloaded as a whole", blob_.digest.ToString());
  std::shared_ptr<Transfer> download = start_(std::make_shared<DownloadSink>(shared_from_this(), number));
  MutexLock lock(mutex_);
  if (number != download_number_) {
    if (download != nullptr) download->Cancel();  // given up already
    return true;
  }
  if (!ended_) download_ = std::move(download);
  if (state_ == State::kUnusable) CancelDownload();
  return true;
}

std::shared_ptr<Transfer> BlobSpool::Read(uint64_t begin, uint64_t end, std::shared_ptr<ByteSink> sink) {
  auto reader = std::make_shared<Reader>(weak_from_this(), begin, end, std::move(sink));
  {
    MutexLock lock(mutex_);
    readers_.push_back(reader);
  }
  Wake();
  return reader;
}

void BlobSpool::Close() {
  MutexLock lock(mutex_);
  state_ = State::kUnusable;
  CancelDownload();
}

void BlobSpool::CancelDownload() {
  if (download_ != nullptr) download_->Cancel();
  download_.reset();
}

void BlobSpool::OnDownloaded(uint64_t download, ByteSpan bytes) {
  {
    MutexLock lock(mutex_);
    if (download != download_number_) return;
    queue_.emplace_back(bytes.begin(), bytes.end());
    queued_ += bytes.size();
    if (queued_ > kQueueLimit && !paused_ && download_ != nullptr) {
      paused_ = true;
      download_->Pause();
    }
  }
  Wake();
}

void BlobSpool::OnDownloadEnd(uint64_t download, Status status) {
  {
    MutexLock lock(mutex_);
    if (download != download_number_) return;
    ended_ = true;
    end_ = std::move(status);
    download_.reset();
  }
  Wake();
}

void BlobSpool::Wake() {
  {
    MutexLock lock(mutex_);
    if (std::exchange(pumping_, true)) return;
  }
  threads_.Post([self = shared_from_this()] { self->Pump(); });
}

void BlobSpool::Pump() {
  while (true) {
    bool wrote = WriteSome();
    bool served = ServeOne();
    if (wrote || served) continue;
    MutexLock lock(mutex_);
    bool more = !queue_.empty() || (ended_ && state_ == State::kRunning);
    for (const auto& reader : readers_) {
      bool ready =
          !reader->paused && (reader->position < written_ || state_ == State::kIdle || state_ == State::kUnusable);
      more = more || reader->cancelled || ready;
    }
    if (more) continue;
    pumping_ = false;
    return;
  }
}

// What has come goes into the file; at the end the digest decides.
bool BlobSpool::WriteSome() {
  std::deque<ByteBuffer> pieces;
  uint64_t offset = 0;
  int file = -1;
  {
    MutexLock lock(mutex_);
    if (state_ != State::kRunning) {
      queue_.clear();
      queued_ = 0;
      return false;
    }
    pieces.swap(queue_);
    queued_ = 0;
    offset = written_;
    file = file_.get();
    if (std::exchange(paused_, false) && download_ != nullptr) download_->Resume();
    if (pieces.empty() && !ended_) return false;
  }
  Status status;
  for (const ByteBuffer& piece : pieces) {
    hasher_.Update(piece);
    status = WriteFullAt(file, offset, piece, "the spool file");
    if (!status.ok()) break;
    offset += piece.size();
  }
  const bool disk_failed = !status.ok();
  bool over = false;
  {
    MutexLock lock(mutex_);
    written_ = offset;
    over = ended_ && queue_.empty();
    if (over && status.ok()) status = end_;
  }
  if (status.ok() && over && (offset != static_cast<uint64_t>(blob_.size) || hasher_.Finish() != blob_.digest)) {
    status = absl::DataLossError(fmt::format("blob {}: the bytes do not match the digest", blob_.digest.ToString()));
  }
  if (over || !status.ok()) EndDownload(std::move(status), disk_failed);
  return true;
}

// Complete, or back to the start: the next read asks the server again.
void BlobSpool::EndDownload(Status status, bool disk_failed) {
  MutexLock lock(mutex_);
  if (state_ == State::kUnusable) return;
  state_ = status.ok() ? State::kComplete : disk_failed ? State::kUnusable : State::kIdle;
  if (status.ok()) return;
  if (disk_failed) {
    file_ = UniqueFd();  // its bytes are somebody's space
    log::Warning("blob {}: {}; going on without it, which is slow", blob_.digest.ToString(), Message(status));
  }
  end_ = std::move(status);
  written_ = queued_ = 0;
  queue_.clear();
  ++download_number_;
  CancelDownload();
}

// One piece for the first reader that can have one. False: nobody can.
bool BlobSpool::ServeOne() {
  std::shared_ptr<Reader> reader;
  uint64_t available = 0;
  int file = -1;
  Status status;
  {
    MutexLock lock(mutex_);
    bool failed = state_ == State::kIdle || state_ == State::kUnusable;
    auto can_go_on = [&](const std::shared_ptr<Reader>& one) SOCI_NO_THREAD_SAFETY_ANALYSIS {
      return one->cancelled || failed || (!one->paused && one->position < written_);
    };
    auto found = std::find_if(readers_.begin(), readers_.end(), can_go_on);
    if (found == readers_.end()) return false;
    reader = *found;
    if (reader->cancelled) status = absl::CancelledError("read cancelled");
    if (status.ok() && failed)
      status = end_.ok() ? absl::UnavailableError("the download of the blob was given up") : end_;
    available = std::min(written_, reader->limit);
    file = file_.get();
    readers_.splice(readers_.end(), readers_, found);  // everybody in turn
  }
  ByteBuffer piece(std::min<uint64_t>(kPiece, status.ok() ? available - reader->position : 0));
  if (status.ok()) status = ReadFullAt(file, reader->position, piece, "the spool file");
  if (status.ok()) status = reader->sink->OnBytes(piece);
  reader->position += piece.size();
  if (status.ok() && reader->position < reader->limit) return true;
  {
    MutexLock lock(mutex_);
    readers_.remove(reader);
  }
  std::shared_ptr<ByteSink> sink = std::move(reader->sink);
  sink->OnEnd(std::move(status));
  return true;
}

}  // namespace soci
