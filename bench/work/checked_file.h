// A file of a made image, whose every byte that is read is compared with what it has to be.
//
// What is missing, short, longer or wrong throws std::runtime_error with path and position: a benchmark that got wrong
// bytes has measured nothing. Moves; one thread per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/image/content.h"

namespace soci::bench {

// Where the image is, and its seed.
struct ImageRoot {
  std::string folder = "/";  // ends with a slash
  uint64_t seed = 1;
};

class CheckedFile {
 public:
  // Opens it. `content_path` is another if the file is a hard link.
  CheckedFile(const ImageRoot& root, const std::string& path, const std::string& content_path);
  CheckedFile(const ImageRoot& root, const std::string& path) : CheckedFile(root, path, path) {}
  ~CheckedFile();
  CheckedFile(const CheckedFile&) = delete;
  CheckedFile& operator=(const CheckedFile&) = delete;

  uint64_t size() const { return size_; }
  void ExpectSize(uint64_t size) const;

  // Reads [offset, offset + size), which must be there, in steps of at most `step` bytes.
  void Read(uint64_t offset, uint64_t size, size_t step = size_t{1} << 20);

  // Maps all of it; TouchPages then compares the first bytes of each page of the range.
  void Map();
  void TouchPages(uint64_t offset, uint64_t size) const;

  int fd() const { return fd_; }

 private:
  void Expect(uint64_t offset, const char* bytes, size_t size) const;

  const std::string path_;
  const FileContent content_;
  int fd_ = -1;
  uint64_t size_ = 0;
  const char* mapped_ = nullptr;
};

[[noreturn]] void Fail(const std::string& path, const std::string& what);
[[noreturn]] void FailWithErrno(const std::string& path, const std::string& what);

}  // namespace soci::bench
