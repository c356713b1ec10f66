// A layer under a limit: room before it is written, and spans that go again. (The part of LayerStore that takes away.)
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>

#include "fuse/store/layer_store.h"
#include "indexer/base/log.h"

namespace soci {
namespace {

uint64_t BlocksDown(uint64_t bytes, uint64_t block) { return bytes / block * block; }
uint64_t BlocksUp(uint64_t bytes, uint64_t block) { return BlocksDown(bytes + block - 1, block); }

// A block that two spans share is in both figures, so their sum is never too little. A file that lies in several spans
// may have holes, for which the file system needs a block of its own.
uint64_t ChargeOf(const LayerTable& table, SpanId span, uint64_t block) {
  uint64_t bytes = 0;
  (void)ForEachPiece(table, table.Extent(span).uncompressed, [&](const SpanPiece& piece) {
    if (piece.is_residue() || piece.range.empty()) return OkStatus();
    const uint64_t begin = piece.range.begin - piece.whole.begin;
    const uint64_t end = piece.range.end - piece.whole.begin;
    bytes += BlocksUp(end, block) - BlocksDown(begin, block) + (piece.range == piece.whole ? 0 : block);
    return OkStatus();
  });
  return bytes;
}

// The most that a span's residue takes, packed.
uint64_t ResidueBound(const LayerTable& table, UncompressedRange range, uint64_t block) {
  const uint64_t size = ResidueSize(table, range);
  return BlocksUp(size + size / 128 + 512, block) + block;
}

}  // namespace

uint64_t LayerStore::ResidueOnDisk() const { return BlocksUp(residue_.size(), block_size_); }

Status LayerStore::JoinLimit() {
  if (options_.limit == nullptr) return OkStatus();
  struct statvfs system {};
  if (::statvfs(folder_.path().c_str(), &system) != 0) return ErrnoStatus(errno, folder_.path());
  block_size_ = std::clamp<uint64_t>(system.f_frsize, 512, 1 << 20);
  std::vector<uint64_t> charges;
  for (uint32_t i = 0; i < table_->span_count(); ++i) charges.push_back(ChargeOf(*table_, SpanId{i}, block_size_));
  pins_ = std::make_shared<SpanPins>();
  shelf_ = std::make_unique<SpanShelf>(std::move(charges));
  CacheLimit::Evictor& evictor = *this;
  account_ = std::make_unique<CacheLimit::Account>(*options_.limit, *shelf_, evictor);
  if (sealed_ || folder_.IsBeingSealed()) {
    account_->AdoptWhole(shelf_->total());
    return OkStatus();
  }
  account_->Adopt(ResidueOnDisk());
  for (uint32_t i = 0; i < words_.size(); ++i) {
    const SpanId span{i};
    if (StateOf(span) != State::kAbsent) {
      account_->Adopt(shelf_->Charge(span));
      shelf_->Put(span, true);
    } else if (!presence_->was_clean()) {
      // Half written, or half evicted, when the last process was killed.
      SOCI_RETURN_IF_ERROR(TakeOffDisk(span));
    }
  }
  account_->Trim();
  return OkStatus();
}

bool LayerStore::KeepWhole() {
  if (account_ == nullptr || account_->kept_whole()) return true;
  uint64_t residue = 0;
  for (uint32_t i = 0; i < table_->span_count(); ++i) {
    residue += ResidueSize(*table_, table_->Extent(SpanId{i}).uncompressed);
  }
  return account_->KeepWhole(shelf_->total() + BlocksUp(residue, block_size_) + block_size_);
}

void LayerStore::NoteRead(SpanId span) {
  if (shelf_ != nullptr) shelf_->Touch(span);
}

uint64_t LayerStore::RoomAhead() const { return account_ == nullptr ? ~uint64_t{0} : account_->RoomAhead(); }

std::shared_ptr<const void> LayerStore::Pin(SpanId span) { return pins_ == nullptr ? nullptr : pins_->Pin(span); }

Status LayerStore::WriteWithinLimit(SpanId span, ByteSpan decoded) {
  const uint64_t residue = ResidueBound(*table_, table_->Extent(span).uncompressed, block_size_);
  if (!account_->Take(shelf_->Charge(span) + residue)) return OkStatus();
  MutexLock lock(cutting_);
  uint64_t unused = residue;
  // Whatever becomes of the write: something of the span may be on the disk. It may have been before.
  if (!shelf_->Put(span, false)) unused += shelf_->Charge(span);
  const uint64_t before = ResidueOnDisk();
  Status written = presence_->MarkInUse();
  if (written.ok()) written = Write(span, decoded);
  account_->Give(unused - (ResidueOnDisk() - before));
  return written;
}

// Nobody is told that the span is present from before its record says so until it is written anew; and it is not
// written anew before its bytes are gone.
bool LayerStore::Evict(SpanId span) {
  MutexLock lock(cutting_);
  if (!shelf_->IsGoing(span)) return false;  // it was written anew
  SpanRecord record;
  const bool free = !cannot_cut_ && pins_->IfUnpinned(span, [&] {
    const Word word = words_[ToIndex(span)].exchange(Lost(WordOf(span)));
    if (StateIn(word) != State::kAbsent) --present_count_;
    MutexLock records(mutex_);
    SpanRecord& known = records_[ToIndex(span)];
    if (StateIn(word) == State::kPresent) {
      known.present = false;
    } else {
      known = {};  // nobody has seen that it was right
    }
    record = known;
  });
  Status gone = free ? presence_->Record(span, record) : absl::UnavailableError("somebody is about to read it");
  if (gone.ok()) gone = TakeOffDisk(span);
  if (gone.ok()) {
    shelf_->Remove(span);
    return true;
  }
  if (free) log::Warning("layer {}: evicting span {}: {}", table_->layer().ToString(), ToIndex(span), Message(gone));
  if (StatusErrno(gone) == EOPNOTSUPP) cannot_cut_ = true;
  shelf_->Spare(span);
  return false;
}

// What belongs to no file stays: it is little, and is written over when the span comes again.
Status LayerStore::TakeOffDisk(SpanId span) {
  return ForEachPiece(*table_, table_->Extent(span).uncompressed, [&](const SpanPiece& piece) {
    return piece.is_residue() || piece.range.empty() ? OkStatus() : CutOut(piece);
  });
}

bool LayerStore::AllAbsent(UncompressedRange range) const {
  if (range.empty()) return true;
  const SpanId last = table_->SpanAt(range.end - 1);
  for (SpanId span = table_->SpanAt(range.begin); span <= last; span = Next(span)) {
    if (StateOf(span) != State::kAbsent) return false;
  }
  return true;
}

Status LayerStore::CutOut(const SpanPiece& piece) {
  const Result<UniqueFd> file = folder_.OpenForCutting(piece.file);
  if (!file.ok()) return StatusErrno(file.status()) == ENOENT ? OkStatus() : file.status();
  Step();
  if (piece.range == piece.whole) {
    return ::ftruncate(file->get(), 0) == 0 ? OkStatus() : ErrnoStatus(errno, "backing file");
  }
  // A block that is shared with a neighbour goes with the last of them.
  const uint64_t content = piece.whole.begin;
  uint64_t begin = piece.range.begin - content, end = piece.range.end - content;
  const uint64_t size = piece.whole.size();
  const uint64_t from = BlocksDown(begin, block_size_), to = std::min(BlocksUp(end, block_size_), size);
  if (AllAbsent({content + from, content + begin})) begin = from;
  if (AllAbsent({content + end, content + to})) end = to == size ? BlocksUp(size, block_size_) : to;
  while (::fallocate(file->get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                     static_cast<off_t>(end - begin)) != 0) {
    if (errno != EINTR) return ErrnoStatus(errno, "punching a hole into a backing file");
  }
  return OkStatus();
}

}  // namespace soci
