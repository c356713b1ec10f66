// A file's bytes, mapped: a blob of any size without its weight in memory. Throws std::runtime_error if it is not there
// or empty.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>

#include "indexer/oci/digest.h"

namespace soci::bench {

class MappedBlob {
 public:
  explicit MappedBlob(const std::string& path);
  ~MappedBlob();
  MappedBlob(const MappedBlob&) = delete;
  MappedBlob& operator=(const MappedBlob&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(begin_), size_}; }
  // Throws when it is stopped: some gigabytes take seconds.
  oci::Digest MakeDigest(const std::stop_token& stop) const;

 private:
  void* begin_ = nullptr;
  size_t size_ = 0;
};

}  // namespace soci::bench
