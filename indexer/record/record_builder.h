// Makes a sound record of what was read: whole pages, no byte twice, neighbours joined, files sorted, bounded.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "indexer/record/record.h"

namespace soci {

class RecordBuilder {
 public:
  // `layers` in image order; one that is there twice counts once.
  RecordBuilder(const oci::Digest& manifest, const std::vector<oci::LayerDigest>& layers,
                size_t most_extents = kMostRecordExtents);

  // A part of a file was needed, at a time of the program that does not go back. What cannot be part of a record is
  // left out: an unknown layer, an empty part, one beyond the file; and everything after `most_extents`.
  void Add(const oci::LayerDigest& layer, const std::string& path, uint64_t file_size, uint64_t offset, uint64_t size,
           uint64_t at_us);
  // What is not in it yet of another record, in that one's order.
  void Append(const Record& other);

  bool full() const { return extents_.size() >= most_extents_; }

  // Empties the builder.
  Record Build();

 private:
  struct File {
    uint64_t size = 0;
    std::map<uint64_t, uint64_t> covered;  // begin -> end
  };
  using FileKey = std::pair<uint32_t, std::string>;
  using Files = std::map<FileKey, File>;
  struct Extent {
    Files::iterator file;
    uint64_t offset;
    uint64_t size;
    uint64_t think_us;
  };

  void AddPages(Files::iterator file, uint64_t begin, uint64_t end, uint64_t at_us);
  void AddExtent(Files::iterator file, uint64_t begin, uint64_t end, uint64_t at_us);

  const oci::Digest manifest_;
  const size_t most_extents_;
  std::vector<oci::LayerDigest> layers_;
  Files files_;
  std::vector<Extent> extents_;
  uint64_t last_us_ = 0;
};

}  // namespace soci
