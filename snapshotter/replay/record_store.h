// The host's own records: one file per image, by the digest of its manifest, below the state directory.
//
// They outlive their image, as it is for its next pull that they are made; only so many are kept, and the one that was
// used longest ago goes first. Any thread; one process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "indexer/record/record.h"

namespace soci {

class RecordStore {
 public:
  explicit RecordStore(std::string folder, size_t keep = 256) : folder_(std::move(folder)), keep_(keep) {}

  // Nothing if there is none. One that is damaged, or about another image, is an error, and removed.
  Result<std::optional<Record>> Find(const oci::Digest& manifest);

  // Puts a run's record to what is there of its image, by MergeRecords. What is kept now.
  Result<Record> Merge(const Record& record);

  std::string PathOf(const oci::Digest& manifest) const { return folder_ + "/" + manifest.Hex(); }

 private:
  Result<std::optional<Record>> Read(const oci::Digest& manifest) SOCI_REQUIRES(mutex_);
  void DropOldest() SOCI_REQUIRES(mutex_);

  const std::string folder_;
  const size_t keep_;
  Mutex mutex_;  // a leaf, held while a small file is read or written
};

}  // namespace soci
