// The file `presence` of a layer folder: for each span whether it is there, the checksum of its decoded bytes and where
// its residue lies.
//
// Each record has a checksum of its own, so a torn or damaged one counts as absent. The file says whether the last
// process ended in order, in this run of the kernel; if not, what it claims has to be checked on first use. So nothing
// here is ever synced but a condemnation. Holds no descriptor between calls, for there may be hundreds of layers.
// Record() may be called from any thread for different spans; the rest by one
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fuse/store/boot_id.h"
#include "indexer/base/mutex.h"
#include "indexer/base/ranges.h"
#include "indexer/base/result.h"
#include "indexer/table/layer_table.h"

namespace soci {

struct SpanRecord {
  bool present = false;
  uint32_t crc32c = 0;  // of the decoded bytes
  // Stays when the span goes: it is written there again.
  uint64_t residue_offset = 0;
  uint32_t residue_size = 0;  // packed
};

class PresenceFile {
 public:
  // Reads the file, or begins a new one if there is none or it is not of this table. `records` gets one record per
  // span.
  static Result<PresenceFile> Open(const std::string& path, const LayerTable& table, const BootId& boot,
                                   std::vector<SpanRecord>& records);
  PresenceFile(PresenceFile&&) noexcept;

  // What the file said when it was opened.
  bool was_new() const { return was_new_; }
  bool was_clean() const { return was_clean_; }
  bool was_condemned() const { return was_condemned_; }
  // Sealing began in this run of the kernel: a sealed tree is what it was left as.
  bool was_sealed_now() const { return was_sealed_now_; }

  // Before something is written that is not recorded yet: whoever finds the file knows that there may be more.
  Status MarkInUse();

  // Before the first call in a process, the file is marked as in use.
  Status Record(SpanId span, const SpanRecord& record);

  Status Condemn();

  // Says that everything recorded was written: true for the next process, and until the machine goes down.
  Status MarkClean();

  // The tree that appears now is sound until the machine goes down, whether or not it is on the disk.
  Status MarkSealed();

 private:
  enum Flag : uint32_t { kClean = 1, kCondemned = 2, kSealed = 4 };

  PresenceFile(std::string path, const BootId& boot) : path_(std::move(path)), boot_(boot) {}
  Status Begin(const LayerTable& table);
  Status WriteFlags(uint32_t flags, bool durable) SOCI_REQUIRES(mutex_);

  std::string path_;
  BootId boot_;
  bool was_new_ = false;
  bool was_clean_ = true;
  bool was_condemned_ = false;
  bool was_sealed_now_ = false;
  Mutex mutex_;  // a leaf
  uint32_t flags_ SOCI_GUARDED_BY(mutex_) = kClean;
};

// Binds presence to a way of cutting the layer into spans.
std::array<std::byte, 16> SpanLayoutFingerprint(const LayerTable& table);

}  // namespace soci
