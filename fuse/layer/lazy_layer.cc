#include "fuse/layer/lazy_layer.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "fuse/fetch/layer_fetcher.h"
#include "fuse/layer/first_reads.h"
#include "fuse/layer/make_layer_reader.h"
#include "fuse/layer/program_clock.h"
#include "fuse/store/backing_store.h"
#include "indexer/base/thread_pool.h"

namespace soci {
namespace {

// Spans rarely go away under a read, and then once; a store that never has what it says it has must not keep us busy.
constexpr int kMostAttempts = 8;

}  // namespace

struct LazyLayer::Parts {
  Parts(std::shared_ptr<const LayerTable> layer_table, BackingStore& backing_store, LayerFetcher& layer_fetcher,
        ThreadPool& pool, ProgramClock* program_clock)
      : table(std::move(layer_table)),
        store(backing_store),
        fetcher(layer_fetcher),
        io_pool(pool),
        clock(program_clock) {}

  const std::shared_ptr<const LayerTable> table;
  BackingStore& store;  // these three only inside the gate
  LayerFetcher& fetcher;
  ThreadPool& io_pool;
  ProgramClock* const clock;
  OpenGate gate;
};

// Collects the parts of a read, span by span: from the fetcher's memory, or from the disk on the I/O pool. Shared by
// the callbacks it waits for.
class LazyLayer::FileRead : public std::enable_shared_from_this<FileRead> {
 public:
  FileRead(std::shared_ptr<Parts> parts, InodeId file, uint64_t file_offset, UncompressedRange wanted, ReadReply reply)
      : parts_(std::move(parts)), file_(file), file_offset_(file_offset), wanted_(wanted), reply_(std::move(reply)) {
    const SpanId last = parts_->table->SpanAt(wanted_.end - 1);
    for (SpanId span = parts_->table->SpanAt(wanted_.begin); span <= last; span = Next(span)) spans_.push_back(span);
    is_in_one_span_ = spans_.size() == 1;
  }

  // Everything from the disk, waiting for it; what turns out not to be there is fetched.
  void ReadOnPool() {
    const OpenGate::Pass pass(parts_->gate);
    if (!pass) return Fail(absl::CancelledError("the layer was closed"));
    parts_->io_pool.PostUrgent([self = shared_from_this()] { self->ReadParts(); });
  }

  // Gets the spans that are still wanted.
  void GetSpans() {
    if (++attempts_ > kMostAttempts) return Fail(absl::InternalError("spans come and go"));
    if (parts_->clock != nullptr && !wait_) wait_.emplace(*parts_->clock);
    if (attempts_ == 2) {  // they went away under us: once is enough
      for (const SpanId span : spans_) pins_.push_back(parts_->store.Pin(span));
    }
    std::vector<SpanId> absent;
    {
      MutexLock lock(mutex_);
      on_disk_.clear();
      for (const SpanId span : spans_) (parts_->store.IsPresent(span) ? on_disk_ : absent).push_back(span);
      unanswered_ = absent.size() + 1;  // one for this function
    }
    for (const SpanId span : absent) {
      parts_->fetcher.Get(span, FetchClass::kDemand,
                          [self = shared_from_this(), span](auto got) { self->OnSpan(span, std::move(got)); });
    }
    OnAnswer();
  }

 private:
  std::byte* Buffer() {
    if (buffer_ == nullptr) buffer_.reset(new std::byte[wanted_.size()]);  // not filled with zeros first
    return buffer_.get();
  }

  void OnSpan(SpanId span, Result<std::shared_ptr<const SpanBuffer>> got) {
    {
      MutexLock lock(mutex_);
      if (got.ok() && is_in_one_span_) {
        whole_ = *std::move(got);
      } else if (got.ok()) {
        const UncompressedRange part = (*got)->range.Intersect(wanted_);
        std::memcpy(Buffer() + (part.begin - wanted_.begin), (*got)->view().data() + (part.begin - (*got)->range.begin),
                    part.size());
      } else if (absl::IsAlreadyExists(got.status())) {
        on_disk_.push_back(span);
      } else if (failure_.ok()) {
        failure_ = got.status();
      }
    }
    OnAnswer();
  }

  // The last one finds everything in, and nobody else at work on the read.
  void OnAnswer() {
    Status failure;
    {
      MutexLock lock(mutex_);
      if (--unanswered_ != 0) return;
      failure = failure_;
      spans_ = on_disk_;
    }
    if (!failure.ok()) return Fail(failure);
    if (!spans_.empty()) return ReadOnPool();
    if (whole_ == nullptr) return reply_(ByteSpan(Buffer(), wanted_.size()));
    reply_(whole_->view().subspan(wanted_.begin - whole_->range.begin, wanted_.size()));
  }

  void ReadParts() {
    const OpenGate::Pass pass(parts_->gate);
    if (!pass) return Fail(absl::CancelledError("the layer was closed"));
    std::vector<SpanId> gone;
    for (const SpanId span : spans_) {
      const UncompressedRange part = parts_->table->Extent(span).uncompressed.Intersect(wanted_);
      const uint64_t begin = part.begin - wanted_.begin;
      const Result<size_t> count =
          parts_->store.ReadFile(file_, file_offset_ + begin, {Buffer() + begin, part.size()}, true);
      if (absl::IsFailedPrecondition(count.status())) {
        gone.push_back(span);
      } else if (!count.ok()) {
        return Fail(count.status());
      }
    }
    spans_ = std::move(gone);
    if (!spans_.empty()) return GetSpans();
    reply_(ByteSpan(Buffer(), wanted_.size()));
  }

  // Whoever asked logs it, once.
  void Fail(const Status& why) {
    reply_(ErrnoStatus(EIO, fmt::format("layer {}: inode {} at {}: {}", parts_->table->layer().ToString(),
                                        ToNumber(file_), file_offset_, Message(why))));
  }

  const std::shared_ptr<Parts> parts_;
  const InodeId file_;
  const uint64_t file_offset_;
  const UncompressedRange wanted_;  // in the tar
  const ReadReply reply_;
  bool is_in_one_span_ = false;
  int attempts_ = 0;
  std::optional<ProgramClock::Wait> wait_;  // from the first span that was not there to the end of the read
  std::vector<SpanId> spans_;               // still wanted
  std::vector<std::shared_ptr<const void>> pins_;
  // Touched by one thread at a time, or under mutex_ while answers come in.
  std::unique_ptr<std::byte[]> buffer_;
  std::shared_ptr<const SpanBuffer> whole_;  // the one span of a small read: answered without a copy
  Mutex mutex_;                              // a leaf
  size_t unanswered_ SOCI_GUARDED_BY(mutex_) = 0;
  std::vector<SpanId> on_disk_ SOCI_GUARDED_BY(mutex_);
  Status failure_ SOCI_GUARDED_BY(mutex_);
};

LazyLayer::LazyLayer(std::shared_ptr<const LayerTable> table, BackingStore& store, LayerFetcher& fetcher,
                     ThreadPool& io_pool, const ReadAheadOptions& read_ahead, const ReadObservers& observers)
    : parts_(std::make_shared<Parts>(std::move(table), store, fetcher, io_pool, observers.clock)),
      observers_(observers),
      read_ahead_(parts_->table, read_ahead) {}

LazyLayer::~LazyLayer() { parts_->gate.Close(); }

const LayerTable& LazyLayer::table() const { return *parts_->table; }

void LazyLayer::Read(InodeId file, uint64_t offset, size_t size, ReadReply reply) {
  const std::optional<InodeAttributes> attributes = parts_->table->Attributes(file);
  if (!attributes) return reply(ErrnoStatus(ESTALE, "no such inode"));
  if (S_ISDIR(attributes->mode)) return reply(ErrnoStatus(EISDIR, "a directory"));
  if (!S_ISREG(attributes->mode)) return reply(ErrnoStatus(EINVAL, "not a regular file"));
  if (offset >= attributes->size || size == 0) return reply(ByteSpan());
  size = static_cast<size_t>(std::min<uint64_t>(size, attributes->size - offset));
  const UncompressedRange wanted{attributes->content.begin + offset, attributes->content.begin + offset + size};

  // Kept by the thread: a reply is over when the callback returns, and large blocks are dear to get.
  thread_local std::vector<std::byte> scratch;
  thread_local bool scratch_taken = false;
  if (scratch_taken) {  // somebody reads from within a reply
    return std::make_shared<FileRead>(parts_, file, offset, wanted, std::move(reply))->ReadOnPool();
  }
  if (scratch.size() < size) scratch.resize(size);
  const Result<size_t> count = parts_->store.ReadFile(file, offset, MutableByteSpan(scratch).first(size), false);
  if (count.ok()) {
    scratch_taken = true;
    reply(ByteSpan(scratch).first(*count));
    scratch_taken = false;
    return FollowUp(file, attributes->content, wanted, false);
  }
  const auto read = std::make_shared<FileRead>(parts_, file, offset, wanted, std::move(reply));
  const bool missed = absl::IsFailedPrecondition(count.status());
  // Else it would block, or failed: then it fails there as well, and is told once.
  missed ? read->GetSpans() : read->ReadOnPool();
  FollowUp(file, attributes->content, wanted, missed);
}

void LazyLayer::FollowUp(InodeId file, const UncompressedRange& content, const UncompressedRange& wanted, bool missed) {
  if (observers_.first_reads != nullptr) {
    observers_.first_reads->OnRead({file, wanted.begin - content.begin, wanted, missed});
  }
  if (parts_->store.present_count() == parts_->table->span_count()) return;
  const std::vector<SpanId> spans = read_ahead_.OnRead(file, content, wanted, missed);
  if (!spans.empty()) parts_->fetcher.Foresee(spans);
}

std::unique_ptr<LayerReader> MakeLayerReader(std::shared_ptr<const LayerTable> table, BackingStore& store,
                                             LayerFetcher& fetcher, ThreadPool& io_pool,
                                             const ReadAheadOptions& read_ahead, const ReadObservers& observers) {
  return std::make_unique<LazyLayer>(std::move(table), store, fetcher, io_pool, read_ahead, observers);
}

}  // namespace soci
