// A blob from a server that ignores ranges: downloaded once, in order, into an unnamed file, and read from there.
//
// Without it each read of the blob's end would cost the whole blob. The first read that meets such an answer starts the
// download; reads get their bytes as soon as the download has passed them. The file is gone with the object, also after
// a crash; the digest is checked at the end, and a blob that fails the check fails its remaining readers. A disk that
// fails ends the spool for good: its readers hear of it and go on without. File work happens on the spool's thread,
// sinks are called there too. Any thread.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <string>

#include "indexer/base/byte_source.h"
#include "indexer/base/mutex.h"
#include "indexer/base/thread_pool.h"
#include "indexer/base/unique_fd.h"
#include "indexer/oci/descriptor.h"

namespace soci {

class BlobSpool : public std::enable_shared_from_this<BlobSpool> {
 public:
  // Starts the download of the whole blob into a sink.
  using StartDownload = std::function<std::shared_ptr<Transfer>(std::shared_ptr<ByteSink>)>;

  // Borrows `threads`, which outlive the object.
  BlobSpool(oci::Descriptor blob, std::string directory, ThreadPool& threads, StartDownload start);

  // The blob is here or on its way: no range need be asked for.
  bool active() const;
  // There is no file to be had (any more): reads do without the spool.
  bool unusable() const;
  // False: the directory takes no file; the caller goes on without a spool.
  bool Start();
  // [begin, end) to the sink. Only while active() was true; if the download has failed since, the sink hears of it.
  std::shared_ptr<Transfer> Read(uint64_t begin, uint64_t end, std::shared_ptr<ByteSink> sink);
  // Nobody reads any more: the download is cancelled, and nothing of the transport is used once this has returned.
  void Close();

 private:
  class DownloadSink;
  class Reader;
  enum class State { kIdle, kRunning, kComplete, kUnusable };  // unusable: there is no file to be had, or Close

  void OnDownloaded(uint64_t download, ByteSpan bytes);
  void OnDownloadEnd(uint64_t download, Status status);
  void Wake();
  void Pump();
  bool WriteSome();
  bool ServeOne();
  void EndDownload(Status status, bool disk_failed);
  void CancelDownload() SOCI_REQUIRES(mutex_);

  const oci::Descriptor blob_;
  const std::string directory_;
  ThreadPool& threads_;
  const StartDownload start_;
  oci::Hasher hasher_;  // the spool's thread

  // Before the locks of a call and of the transport; never held over file work or a sink.
  mutable Mutex mutex_;
  State state_ SOCI_GUARDED_BY(mutex_) = State::kIdle;
  UniqueFd file_ SOCI_GUARDED_BY(mutex_);
  std::deque<ByteBuffer> queue_ SOCI_GUARDED_BY(mutex_);  // downloaded, not yet in the file
  uint64_t queued_ SOCI_GUARDED_BY(mutex_) = 0;
  uint64_t written_ SOCI_GUARDED_BY(mutex_) = 0;
  uint64_t download_number_ SOCI_GUARDED_BY(mutex_) = 0;  // what one that was given up still says is not heard
  bool ended_ SOCI_GUARDED_BY(mutex_) = false;
  Status end_ SOCI_GUARDED_BY(mutex_);
  std::shared_ptr<Transfer> download_ SOCI_GUARDED_BY(mutex_);
  bool paused_ SOCI_GUARDED_BY(mutex_) = false;
  bool pumping_ SOCI_GUARDED_BY(mutex_) = false;
  std::list<std::shared_ptr<Reader>> readers_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
