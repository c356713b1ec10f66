// One layer on disk: its spans are cut into the files they belong to, and when all of them are in and the DiffID is
// right, the layer is sealed into an ordinary directory.
//
// Life: Open -> spans written in any order -> complete() -> Seal() -> sealed(), a plain lowerdir at sealed_path() ->
// Settle() once that is on the disk. Nothing here waits for the disk to have what it was given: what is there after a
// kill or a power loss at any point is checked before it is used, or fetched again; a tree that was sealed but not
// settled when the machine went down is a layer to be sealed once more. Under a CacheLimit spans that are present may
// go again, as long as the layer is not kept whole; a reader never notices but by waiting. After CheckSpan found the
// index lying the layer is condemned for good: every call gives that status. Any thread, except where said.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "fuse/store/backing_store.h"
#include "fuse/store/boot_id.h"
#include "fuse/store/cache_limit.h"
#include "fuse/store/fd_cache.h"
#include "fuse/store/layer_folder.h"
#include "fuse/store/presence_file.h"
#include "fuse/store/residue_file.h"
#include "fuse/store/span_checker.h"
#include "fuse/store/span_pieces.h"
#include "fuse/store/span_pins.h"
#include "fuse/store/span_shelf.h"
#include "indexer/base/mutex.h"
#include "indexer/oci/digest.h"

namespace soci {

struct LayerStoreOptions {
  // Called before every step that changes the disk; a test ends the process there.
  std::function<void()> before_step = {};
  // In which run of the kernel this is; a test plays another.
  BootId boot = ThisBoot();
  // On what all layers keep; outlives the store. Null: none.
  CacheLimit* limit = nullptr;
};

struct SealRequest {
  oci::DiffId diff_id;
  // Gives what the layer's stream holds after the last span, which a zTOC does not tell. Asked only if zeros, as tar
  // programs pad with, do not lead to the DiffID; may be empty.
  std::function<Status(const std::function<Status(ByteSpan)>& sink)> read_tail = {};
  std::stop_token stop = {};
};

class LayerStore final : public BackingStore, private CacheLimit::Evictor {
 public:
  // `folder` is the layer's own (made if missing) and not open anywhere else; `files` outlives the store. What an
  // earlier process, or another machine, left there is taken over as far as it fits the table.
  static Result<std::unique_ptr<LayerStore>> Open(const std::string& folder, std::shared_ptr<const LayerTable> table,
                                                  FdCache& files, LayerStoreOptions options = {});
  ~LayerStore() override;

  bool IsPresent(SpanId span) const override;
  uint32_t present_count() const override { return present_count_; }
  std::optional<SpanId> NextMissing(SpanId from) const override;
  Status CheckSpan(SpanId span, ByteSpan decoded) override;
  Status WriteSpan(SpanId span, ByteSpan decoded) override;
  Result<size_t> ReadFile(InodeId file, uint64_t file_offset, MutableByteSpan out, bool may_block) override;
  void NoteRead(SpanId span) override;
  uint64_t RoomAhead() const override;
  std::shared_ptr<const void> Pin(SpanId span) override;

  // Asks the limit for room for the whole layer. True: nothing of it is evicted any more, and it may be filled and
  // sealed. False: it stays lazy for now. One caller at a time.
  bool KeepWhole();
  // The limit keeps the layer lazy.
  bool kept_lazy() const { return account_ != nullptr && !account_->kept_whole(); }

  // Bytes of the tar from any present spans, read back from the disk. Blocks. kFailedPrecondition if a span is absent.
  Status ReadTar(UncompressedRange range, MutableByteSpan out);

  // Of the tar, from its beginning: what the DiffID was made of so far. Sealing has to read the rest back.
  uint64_t hashed_bytes() const {
    MutexLock lock(frontier_mutex_);
    return HashedBytes();
  }

  // Of the hashed bytes, those that had to be read back from the disk, as they came before their turn.
  uint64_t read_back_bytes() const { return read_back_bytes_; }

  bool complete() const { return present_count_ == table_->span_count(); }
  bool sealed() const { return sealed_; }
  std::string sealed_path() const { return folder_.sealed(); }

  // Why the layer may not be used any more, or ok.
  Status condemned() const;

  // Verifies the complete layer against its DiffID and turns it into a directory. Blocks for as long as reading back
  // what was not hashed on the way takes; one caller at a time; reads go on meanwhile. kFailedPrecondition if spans are
  // missing, among them those that turn out to be damaged (fetch them and call again); kDataLoss condemns the layer;
  // any other error (disk full, an xattr that the file system cannot hold) leaves it as it was, to be tried again.
  Status Seal(const SealRequest& request);

  // Sealed, and nobody has said yet that it is on the disk.
  bool unsettled() const { return sealed_ && !settled_; }
  // The caller has synced the file system since the layer was sealed: what could have mended it goes. Not beside Seal.
  Status Settle();

  // Says that all was written, so that the next Open needs no checks unless the machine went down in between. Syncs
  // nothing, so an end is quick however much waits for the disk. Call it when nothing is being written.
  Status Close();

 private:
  enum class State : uint8_t { kAbsent, kUnchecked, kPresent };
  // A span's state, and in the bits above it how often the span was lost. It only ever grows: who finds the same word
  // after a read as before it has read what was there.
  using Word = uint32_t;

  LayerStore(const std::string& folder, std::shared_ptr<const LayerTable> table, FdCache& files,
             LayerStoreOptions options);
  Status Load();
  Status LoadSealed();
  Status LoadSpans(std::vector<SpanRecord> records);
  void Step() const;
  static State StateIn(Word word) { return static_cast<State>(word & 3); }
  static Word Present(Word word) { return (word & ~Word{3}) | static_cast<Word>(State::kPresent); }
  static Word Lost(Word word) { return (word & ~Word{3}) + 4; }
  Word WordOf(SpanId span) const { return words_[ToIndex(span)].load(std::memory_order_acquire); }
  State StateOf(SpanId span) const { return StateIn(WordOf(span)); }
  void MarkPresent(SpanId span);
  Result<Word> CheckFirstUse(SpanId span, bool may_block);
  void MarkAbsent(SpanId span, Word seen, const Status& why);
  Status Write(SpanId span, ByteSpan decoded);
  Status WriteWithinLimit(SpanId span, ByteSpan decoded);
  Status JoinLimit();
  bool Evict(SpanId span) override;
  Status TakeOffDisk(SpanId span);
  Status CutOut(const SpanPiece& piece);
  bool AllAbsent(UncompressedRange range) const;
  uint64_t ResidueOnDisk() const;
  Status Condemn(Status why);
  Status WritePieces(SpanId span, ByteSpan decoded, SpanRecord& record);
  Status ReadBack(SpanId span, MutableByteSpan out);
  Result<std::shared_ptr<const UniqueFd>> FileFor(InodeId file, uint64_t content_begin, bool may_block);
  void AdvanceFrontier(SpanId span, ByteSpan decoded);
  uint64_t HashedBytes() const SOCI_REQUIRES(frontier_mutex_);
  Status HashNext() SOCI_REQUIRES(frontier_mutex_);
  Result<bool> HasDiffId(const SealRequest& request) SOCI_REQUIRES(frontier_mutex_);

  const LayerFolder folder_;
  const std::shared_ptr<const LayerTable> table_;
  FdCache& files_;
  const uint64_t owner_;  // in files_
  const LayerStoreOptions options_;
  SpanChecker checker_;
  ResidueFile residue_;
  std::unique_ptr<PresenceFile> presence_;  // none when it was settled before
  std::vector<std::atomic<Word>> words_;
  std::atomic<uint32_t> present_count_{0};
  std::atomic<bool> sealed_{false};
  std::atomic<bool> settled_{false};
  std::atomic<bool> is_condemned_{false};

  // Before mutex_ in order; held while hashing and sealing.
  mutable Mutex frontier_mutex_;
  oci::Hasher hasher_ SOCI_GUARDED_BY(frontier_mutex_);
  SpanId frontier_ SOCI_GUARDED_BY(frontier_mutex_){0};  // all spans before it are in hasher_
  std::atomic<uint64_t> read_back_bytes_{0};

  mutable Mutex mutex_;  // a leaf
  std::vector<SpanRecord> records_ SOCI_GUARDED_BY(mutex_);
  Status condemned_ SOCI_GUARDED_BY(mutex_);

  // Only with a limit; the account goes first. What is written to the disk and what is taken off it take turns.
  Mutex cutting_;
  std::atomic<bool> cannot_cut_{false};  // the file system has no holes
  uint64_t block_size_ = 0;
  std::shared_ptr<SpanPins> pins_;
  std::unique_ptr<SpanShelf> shelf_;
  std::unique_ptr<CacheLimit::Account> account_;
};

}  // namespace soci
