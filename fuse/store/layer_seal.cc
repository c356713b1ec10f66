// The end of a layer's way: hashing it in order, and sealing it. (The part of LayerStore that deals with the whole.)
#include <fmt/format.h>

#include "fuse/store/layer_sealer.h"
#include "fuse/store/layer_store.h"
#include "fuse/store/span_memory.h"
#include "indexer/base/log.h"

namespace soci {
namespace {

constexpr int kReadBackPerWrite = 4;  // spans read back while another one is written; the rest waits for Seal
constexpr uint64_t kTarBlock = 512;
constexpr uint64_t kMostPadding = 1 << 20;  // tar's largest usual record; more than that is asked for
constexpr uint64_t kLongestTail = uint64_t{1} << 30;

// Tar programs fill their last record with zeros, and a zTOC does not count those. The DiffID itself tells how many
// there are; a wrong guess cannot match it.
bool MatchesWithZeros(oci::Hasher hasher, uint64_t position, const oci::DiffId& wanted) {
  static constexpr std::byte kZeros[kTarBlock] = {};
  for (uint64_t padding = 0;;) {
    if (oci::Hasher(hasher).Finish() == wanted) return true;
    if (padding >= kMostPadding) return false;
    const uint64_t step = kTarBlock - (position + padding) % kTarBlock;
    hasher.Update(ByteSpan(kZeros, step));
    padding += step;
  }
}

}  // namespace

void LayerStore::AdvanceFrontier(SpanId span, ByteSpan decoded) SOCI_NO_THREAD_SAFETY_ANALYSIS {
  // Whoever is hashing already comes to this span by itself, from the disk.
  if (!frontier_mutex_.try_lock()) return;
  if (frontier_ == span) {
    hasher_.Update(decoded);
    frontier_ = Next(span);
  }
  for (int i = 0; i < kReadBackPerWrite && ToIndex(frontier_) < words_.size(); ++i) {
    if (StateOf(frontier_) != State::kPresent || !HashNext().ok()) break;
  }
  frontier_mutex_.unlock();
}

Status LayerStore::HashNext() {
  const size_t size = table_->Extent(frontier_).uncompressed.size();
  const SpanMemory memory = TakeSpanMemory(size);
  if (!memory) return absl::ResourceExhaustedError("no memory to read a span back");
  const MutableByteSpan bytes(memory.get(), size);
  SOCI_RETURN_IF_ERROR(ReadBack(frontier_, bytes));
  hasher_.Update(bytes);
  read_back_bytes_ += size;
  frontier_ = Next(frontier_);
  return OkStatus();
}

uint64_t LayerStore::HashedBytes() const {
  if (ToIndex(frontier_) == words_.size()) return table_->uncompressed_size();
  return table_->Extent(frontier_).uncompressed.begin;
}

Result<bool> LayerStore::HasDiffId(const SealRequest& request) {
  while (ToIndex(frontier_) < words_.size()) {
    if (request.stop.stop_requested()) return absl::CancelledError("it was stopped");
    SOCI_RETURN_IF_ERROR(HashNext());
  }
  if (table_->compression() == Compression::kUncompressed) {
    return oci::Hasher(hasher_).Finish() == request.diff_id;
  }
  if (MatchesWithZeros(hasher_, table_->uncompressed_size(), request.diff_id)) return true;
  if (!request.read_tail) return absl::UnavailableError("the DiffID needs what follows the archive");
  oci::Hasher hasher(hasher_);
  uint64_t size = 0;
  const Status status = request.read_tail([&](ByteSpan bytes) -> Status {
    size += bytes.size();
    if (size > kLongestTail) return absl::ResourceExhaustedError("what follows the archive has no end");
    hasher.Update(bytes);
    return OkStatus();
  });
  if (!status.ok()) return absl::UnavailableError(fmt::format("reading what follows the archive: {}", Message(status)));
  return hasher.Finish() == request.diff_id;
}

Status LayerStore::Seal(const SealRequest& request) {
  SOCI_RETURN_IF_ERROR(condemned());
  if (sealed_) return OkStatus();
  if (kept_lazy()) return absl::FailedPreconditionError("the limit on what is kept has no room for the whole layer");
  MutexLock lock(frontier_mutex_);
  if (const auto missing = NextMissing(SpanId{0})) {
    return absl::FailedPreconditionError(fmt::format("span {} is not present", ToIndex(*missing)));
  }
  const auto annotated = [&](const Status& status) {
    return Annotate(status, fmt::format("sealing layer {}", table_->layer().ToString()));
  };
  log::Debug("layer {}: complete; {} of {} bytes are left to be hashed", table_->layer().ToString(),
             table_->uncompressed_size() - HashedBytes(), table_->uncompressed_size());
  const Result<bool> right = HasDiffId(request);
  if (!right.ok()) return annotated(right.status());
  if (!*right) {
    return Condemn(absl::DataLossError(fmt::format("its bytes do not have the DiffID {}", request.diff_id.ToString())));
  }
  if (Status status = presence_->MarkSealed(); !status.ok()) return annotated(status);
  folder_.SetStage(LayerFolder::Stage::kSealing);
  LayerSealer sealer(folder_, *table_, options_.before_step);
  if (Status status = sealer.Build(request.stop); !status.ok()) return annotated(status);
  folder_.SetStage(LayerFolder::Stage::kSealed);
  sealed_ = true;
  return OkStatus();
}

Status LayerStore::Settle() {
  if (!unsettled()) return OkStatus();
  Step();
  SOCI_RETURN_IF_ERROR(RemoveWhatSealingLeaves(folder_));
  settled_ = true;
  return OkStatus();
}

}  // namespace soci
