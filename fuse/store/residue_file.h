// The file `residue` of a layer folder: for each span the tar bytes that belong to no visible file, packed. Bytes are
// added at the end, or written again as they were; where a span's lie stands in `presence`. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

namespace soci {

class ResidueFile {
 public:
  struct Place {
    uint64_t offset = 0;
    uint32_t size = 0;
  };

  explicit ResidueFile(std::string path) : path_(std::move(path)) {}

  // Continues after what is there.
  Status Open();

  // `before`: where the same residue was written once, or nowhere; it is put there again if it fits.
  Result<Place> Write(ByteSpan residue, Place before);

  uint64_t size() const { return end_; }

  // Fills `residue`, which has exactly the unpacked size. kDataLoss if it is damaged.
  Status Read(Place place, MutableByteSpan residue) const;

 private:
  const std::string path_;
  std::atomic<uint64_t> end_{0};
};

}  // namespace soci
