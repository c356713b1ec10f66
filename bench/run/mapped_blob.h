// A file's bytes, mapped: a blob of any size without its weight in memory. Throws std::runtime_error if it is not there
// or empty.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace soci::bench {

class MappedBlob {
 public:
  explicit MappedBlob(const std::string& path);
  ~MappedBlob();
  MappedBlob(const MappedBlob&) = delete;
  MappedBlob& operator=(const MappedBlob&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(begin_), size_}; }

 private:
  void* begin_ = nullptr;
  size_t size_ = 0;
};

}  // namespace soci::bench
