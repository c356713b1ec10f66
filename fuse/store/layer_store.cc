#include "fuse/store/layer_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fuse/store/layer_sealer.h"
#include "indexer/base/crc32c.h"
#include "indexer/base/file_io.h"
#include "indexer/base/log.h"

namespace soci {
namespace {

bool Exists(const std::string& path) {
  struct stat attributes {};
  return ::lstat(path.c_str(), &attributes) == 0;
}

Status NotPresent(SpanId span) {
  return absl::FailedPreconditionError(fmt::format("span {} is not present", ToIndex(span)));
}

// All of `out`, or kUnavailable if that would have to wait for the disk.
Status ReadCached(int file, uint64_t offset, MutableByteSpan out) {
  while (!out.empty()) {
    iovec piece{out.data(), out.size()};
    const ssize_t count = ::preadv2(file, &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EOPNOTSUPP) return ReadFullAt(file, offset, out, "backing file");  // memory, mostly
    if (count < 0 && errno == EAGAIN) return absl::UnavailableError("would block");
    if (count < 0) return ErrnoStatus(errno, "backing file");
    if (count == 0) return absl::OutOfRangeError(fmt::format("backing file: ends at {}", offset));
    offset += static_cast<uint64_t>(count);
    out = out.subspan(static_cast<size_t>(count));
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<LayerStore>> LayerStore::Open(const std::string& folder, std::shared_ptr<const LayerTable> table,
                                                     FdCache& files, LayerStoreOptions options) {
  SOCI_RETURN_IF_ERROR(MakeDirectories(folder, 0700));
  auto store = std::unique_ptr<LayerStore>(new LayerStore(folder, std::move(table), files, std::move(options)));
  SOCI_RETURN_IF_ERROR(store->Load());
  SOCI_RETURN_IF_ERROR(store->JoinLimit());
  return store;
}

LayerStore::LayerStore(const std::string& folder, std::shared_ptr<const LayerTable> table, FdCache& files,
                       LayerStoreOptions options)
    : folder_(folder, table),
      table_(table),
      files_(files),
      owner_(files.NewOwner()),
      options_(std::move(options)),
      checker_(table,
               [this](SpanId span, UncompressedRange range, MutableByteSpan out) {
                 return StateOf(span) == State::kPresent && !sealed_ && ReadTar(range, out).ok();
               }),
      residue_(folder_.residue()),
      words_(table->span_count()) {}

LayerStore::~LayerStore() {
  account_.reset();
  files_.Forget(owner_);
}

void LayerStore::Step() const {
  if (options_.before_step) options_.before_step();
}

Status LayerStore::Load() {
  const bool sealed = Exists(folder_.sealed());
  if (sealed && !Exists(folder_.presence())) return LoadSealed();
  std::vector<SpanRecord> records;
  SOCI_ASSIGN_OR_RETURN(PresenceFile presence, PresenceFile::Open(folder_.presence(), *table_, options_.boot, records));
  presence_ = std::make_unique<PresenceFile>(std::move(presence));
  if (sealed && presence_->was_sealed_now()) return LoadSealed();
  // The machine went down before the tree was known to be on the disk.
  if (sealed && ::rename(folder_.sealed().c_str(), folder_.sealing().c_str()) != 0) {
    return ErrnoStatus(errno, folder_.sealing());
  }
  return LoadSpans(std::move(records));
}

Status LayerStore::LoadSealed() {
  folder_.SetStage(LayerFolder::Stage::kSealed);
  for (auto& word : words_) word = static_cast<Word>(State::kPresent);
  present_count_ = table_->span_count();
  settled_ = presence_ == nullptr;
  sealed_ = true;
  return settled_ ? RemoveWhatSealingLeaves(folder_) : OkStatus();
}

Status LayerStore::LoadSpans(std::vector<SpanRecord> records) {
  if (presence_->was_new()) {
    // Of another cut into spans, or of nothing we know: bytes without a record are worth nothing.
    SOCI_RETURN_IF_ERROR(RemoveTree(folder_.data()));
    SOCI_RETURN_IF_ERROR(RemoveTree(folder_.residue()));
    SOCI_RETURN_IF_ERROR(RemoveTree(folder_.sealing()));
  }
  if (Exists(folder_.sealing())) folder_.SetStage(LayerFolder::Stage::kSealing);
  SOCI_RETURN_IF_ERROR(residue_.Open());
  const State state = presence_->was_clean() ? State::kPresent : State::kUnchecked;
  for (uint32_t i = 0; i < records.size(); ++i) {
    if (!records[i].present && !presence_->was_clean()) records[i] = {};  // its residue may be another's by now
    if (!records[i].present) continue;
    words_[i] = static_cast<Word>(state);
    ++present_count_;
  }
  MutexLock lock(mutex_);
  records_ = std::move(records);
  if (presence_->was_condemned()) {
    condemned_ = absl::DataLossError(
        fmt::format("layer {}: condemned earlier, its index does not tell the truth", table_->layer().ToString()));
    is_condemned_ = true;
  }
  return OkStatus();
}

bool LayerStore::IsPresent(SpanId span) const {
  return ToIndex(span) < words_.size() && StateOf(span) != State::kAbsent;
}

std::optional<SpanId> LayerStore::NextMissing(SpanId from) const {
  for (SpanId span = from; ToIndex(span) < words_.size(); span = Next(span)) {
    if (StateOf(span) == State::kAbsent) return span;
  }
  return std::nullopt;
}

Status LayerStore::condemned() const {
  if (!is_condemned_) return OkStatus();
  MutexLock lock(mutex_);
  return condemned_;
}

Status LayerStore::Condemn(Status why) {
  why = Annotate(why, fmt::format("layer {}", table_->layer().ToString()));
  {
    MutexLock lock(mutex_);
    if (is_condemned_) return condemned_;
    condemned_ = why;
    is_condemned_ = true;
  }
  log::Error("{}; the layer is condemned", Message(why));
  if (presence_ != nullptr) {
    if (Status status = presence_->Condemn(); !status.ok()) log::Warning("{}", Message(status));
  }
  return why;
}

Status LayerStore::CheckSpan(SpanId span, ByteSpan decoded) {
  SOCI_RETURN_IF_ERROR(condemned());
  if (ToIndex(span) >= words_.size()) return absl::InvalidArgumentError("no such span");
  const Status status = checker_.Check(span, decoded);
  return absl::IsDataLoss(status) ? Condemn(status) : status;
}

Status LayerStore::WritePieces(SpanId span, ByteSpan decoded, SpanRecord& record) {
  const UncompressedRange range = table_->Extent(span).uncompressed;
  std::string residue;
  SOCI_RETURN_IF_ERROR(ForEachPiece(*table_, range, [&](const SpanPiece& piece) -> Status {
    const ByteSpan bytes = decoded.subspan(piece.range.begin - range.begin, piece.range.size());
    if (piece.is_residue()) {
      residue.append(AsText(bytes));
      return OkStatus();
    }
    Step();
    SOCI_ASSIGN_OR_RETURN(const UniqueFd file,
                          folder_.OpenForWriting(piece.file, piece.whole, piece.range == piece.whole));
    Step();
    return WriteFullAt(file.get(), piece.range.begin - piece.whole.begin, bytes, "backing file");
  }));
  if (residue.empty()) return OkStatus();
  Step();
  SOCI_ASSIGN_OR_RETURN(const ResidueFile::Place place,
                        residue_.Write(AsBytes(residue), {record.residue_offset, record.residue_size}));
  record.residue_offset = place.offset;
  record.residue_size = place.size;
  return OkStatus();
}

Status LayerStore::WriteSpan(SpanId span, ByteSpan decoded) {
  SOCI_RETURN_IF_ERROR(condemned());
  if (ToIndex(span) >= words_.size()) return absl::InvalidArgumentError("no such span");
  if (decoded.size() != table_->Extent(span).uncompressed.size()) {
    return absl::InvalidArgumentError(fmt::format("span {} is written with {} bytes", ToIndex(span), decoded.size()));
  }
  if (StateOf(span) == State::kPresent) return OkStatus();
  return account_ == nullptr ? Write(span, decoded) : WriteWithinLimit(span, decoded);
}

Status LayerStore::Write(SpanId span, ByteSpan decoded) {
  SpanRecord record;
  {
    MutexLock lock(mutex_);
    // Where its residue is, if it was evicted; what was damaged says nothing.
    if (!records_[ToIndex(span)].present) record = records_[ToIndex(span)];
  }
  record.present = true;
  record.crc32c = Crc32c(decoded);
  const auto annotated = [&](const Status& status) {
    return Annotate(status, fmt::format("layer {}, writing span {}", table_->layer().ToString(), ToIndex(span)));
  };
  if (Status status = WritePieces(span, decoded, record); !status.ok()) return annotated(status);
  Step();
  if (Status status = presence_->Record(span, record); !status.ok()) return annotated(status);
  {
    MutexLock lock(mutex_);
    records_[ToIndex(span)] = record;
  }
  MarkPresent(span);
  if (!kept_lazy()) AdvanceFrontier(span, decoded);
  return OkStatus();
}

void LayerStore::MarkPresent(SpanId span) {
  std::atomic<Word>& place = words_[ToIndex(span)];
  Word word = place;
  while (!place.compare_exchange_weak(word, Present(word))) {
  }
  if (StateIn(word) == State::kAbsent) ++present_count_;
}

Result<std::shared_ptr<const UniqueFd>> LayerStore::FileFor(InodeId file, uint64_t content_begin, bool may_block) {
  if (auto cached = files_.Find(owner_, content_begin)) return cached;
  SOCI_ASSIGN_OR_RETURN(UniqueFd opened, folder_.OpenForReading(file, may_block));
  return files_.Insert(owner_, content_begin, std::move(opened));
}

Result<size_t> LayerStore::ReadFile(InodeId file, uint64_t file_offset, MutableByteSpan out, bool may_block) {
  SOCI_RETURN_IF_ERROR(condemned());
  const std::optional<InodeAttributes> attributes = table_->Attributes(file);
  if (!attributes || !S_ISREG(attributes->mode)) return absl::InvalidArgumentError("not a regular file");
  if (file_offset >= attributes->size) return 0;
  out = out.first(static_cast<size_t>(std::min<uint64_t>(out.size(), attributes->size - file_offset)));
  if (out.empty()) return 0;
  const uint64_t begin = attributes->content.begin + file_offset;
  const SpanId first = table_->SpanAt(begin);
  const SpanId last = table_->SpanAt(begin + out.size() - 1);
  uint64_t seen = 0;
  for (SpanId span = first; span <= last; span = Next(span)) {
    SOCI_ASSIGN_OR_RETURN(const Word word, CheckFirstUse(span, may_block));
    seen += word;
  }
  SOCI_ASSIGN_OR_RETURN(const auto opened, FileFor(file, attributes->content.begin, may_block));
  const Status status = may_block ? ReadFullAt(opened->get(), file_offset, out, "backing file")
                                  : ReadCached(opened->get(), file_offset, out);
  // A span that went meanwhile, and perhaps came back, may have been read as a hole.
  uint64_t now = 0;
  for (SpanId span = first; span <= last; span = Next(span)) now += WordOf(span);
  if (now != seen) return NotPresent(first);
  if (absl::IsOutOfRange(status) && !sealed_) {  // shorter than it was left: somebody cut it
    for (SpanId span = first; span <= last; span = Next(span)) MarkAbsent(span, WordOf(span), status);
    return NotPresent(first);
  }
  SOCI_RETURN_IF_ERROR(status);
  if (shelf_ != nullptr) {
    for (SpanId span = first; span <= last; span = Next(span)) shelf_->Touch(span);
  }
  return out.size();
}

// After an unclean stop what is recorded may never have reached the disk.
Result<LayerStore::Word> LayerStore::CheckFirstUse(SpanId span, bool may_block) {
  Word word = WordOf(span);
  if (StateIn(word) == State::kUnchecked) {
    if (!may_block) return absl::UnavailableError("would block");
    ByteBuffer buffer(table_->Extent(span).uncompressed.size());
    SOCI_RETURN_IF_ERROR(ReadBack(span, buffer));
    word = WordOf(span);
  }
  if (StateIn(word) != State::kPresent) return NotPresent(span);
  return word;
}

// Unless its word has changed from `seen`: then it was written anew, or somebody else has found it out.
void LayerStore::MarkAbsent(SpanId span, Word seen, const Status& why) {
  if (StateIn(seen) == State::kAbsent) return;
  if (!words_[ToIndex(span)].compare_exchange_strong(seen, Lost(seen))) return;
  --present_count_;
  log::Warning("layer {}: span {} on disk is damaged ({}), it will be fetched again", table_->layer().ToString(),
               ToIndex(span), Message(why));
}

Status LayerStore::ReadBack(SpanId span, MutableByteSpan out) {
  Word word = WordOf(span);
  if (StateIn(word) == State::kAbsent) return NotPresent(span);
  SpanRecord record;
  {
    MutexLock lock(mutex_);
    record = records_[ToIndex(span)];
  }
  const UncompressedRange range = table_->Extent(span).uncompressed;
  ByteBuffer residue(ResidueSize(*table_, range));
  Status status;
  if (!residue.empty()) status = residue_.Read({record.residue_offset, record.residue_size}, residue);
  size_t used = 0;
  if (status.ok()) {
    status = ForEachPiece(*table_, range, [&](const SpanPiece& piece) -> Status {
      const MutableByteSpan part = out.subspan(piece.range.begin - range.begin, piece.range.size());
      if (piece.is_residue()) {
        std::memcpy(part.data(), residue.data() + used, part.size());
        used += part.size();
        return OkStatus();
      }
      SOCI_ASSIGN_OR_RETURN(const UniqueFd file, folder_.OpenForReading(piece.file, true));
      return ReadFullAt(file.get(), piece.range.begin - piece.whole.begin, part, "backing file");
    });
  }
  if (status.ok() && Crc32c(out) != record.crc32c) status = absl::DataLossError("wrong checksum");
  if (status.ok()) {
    words_[ToIndex(span)].compare_exchange_strong(word, Present(word));
    return OkStatus();
  }
  const bool damaged = absl::IsDataLoss(status) || absl::IsOutOfRange(status) || absl::IsNotFound(status);
  if (!damaged) return status;
  MarkAbsent(span, word, status);
  return NotPresent(span);
}

Status LayerStore::ReadTar(UncompressedRange range, MutableByteSpan out) {
  for (uint64_t at = range.begin; at < range.end;) {
    const SpanId span = table_->SpanAt(at);
    const UncompressedRange whole = table_->Extent(span).uncompressed;
    const UncompressedRange part = whole.Intersect(range);
    if (part.empty()) return absl::OutOfRangeError("past the end of the layer");
    ByteBuffer buffer(whole.size());
    SOCI_RETURN_IF_ERROR(ReadBack(span, buffer));
    std::memcpy(out.data() + (part.begin - range.begin), buffer.data() + (part.begin - whole.begin), part.size());
    at = part.end;
  }
  return OkStatus();
}

Status LayerStore::Close() {
  if (sealed_ || presence_ == nullptr) return OkStatus();
  // Spans that nobody has used since an unclean stop are still in doubt, and those that were found damaged are still
  // recorded as present.
  MutexLock lock(mutex_);
  for (uint32_t i = 0; i < words_.size(); ++i) {
    const State state = StateIn(words_[i]);
    if (state == State::kUnchecked || (state == State::kAbsent && records_[i].present)) return OkStatus();
  }
  return presence_->MarkClean();
}

}  // namespace soci
