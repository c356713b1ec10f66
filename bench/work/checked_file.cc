#include "bench/work/checked_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace soci::bench {
namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kOfAPage = 64;  // bytes that are compared of a page that is touched

}  // namespace

void Fail(const std::string& path, const std::string& what) { throw std::runtime_error(path + ": " + what); }

void FailWithErrno(const std::string& path, const std::string& what) { Fail(path, what + ": " + std::strerror(errno)); }

CheckedFile::CheckedFile(const ImageRoot& root, const std::string& path, const std::string& content_path)
    : path_(root.folder + path), content_(root.seed, content_path) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) FailWithErrno(path_, "cannot be opened");
  struct stat status {};
  if (::fstat(fd_, &status) != 0) {
    ::close(fd_);
    FailWithErrno(path_, "fstat");
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

CheckedFile::~CheckedFile() {
  if (mapped_ != nullptr) ::munmap(const_cast<char*>(mapped_), size_);
  ::close(fd_);
}

void CheckedFile::ExpectSize(uint64_t size) const {
  if (size_ != size) Fail(path_, "has " + std::to_string(size_) + " bytes instead of " + std::to_string(size));
}

void CheckedFile::Read(uint64_t offset, uint64_t size, size_t step) {
  thread_local std::vector<char> buffer;
  buffer.resize(std::max(buffer.size(), step));
  while (size > 0) {
    const ssize_t count = ::pread(fd_, buffer.data(), std::min<uint64_t>(step, size), static_cast<off_t>(offset));
    if (count < 0) FailWithErrno(path_, "cannot be read at " + std::to_string(offset));
    if (count == 0) Fail(path_, "ends at " + std::to_string(offset));
    Expect(offset, buffer.data(), static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
    size -= static_cast<uint64_t>(count);
  }
}

void CheckedFile::Map() {
  if (mapped_ != nullptr || size_ == 0) return;
  void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd_, 0);
  if (at == MAP_FAILED) FailWithErrno(path_, "cannot be mapped");
  mapped_ = static_cast<const char*>(at);
}

void CheckedFile::TouchPages(uint64_t offset, uint64_t size) const {
  if (mapped_ == nullptr || offset > size_ || size > size_ - offset) Fail(path_, "is too short to be touched there");
  for (uint64_t at = offset; at < offset + size; at = (at / kPage + 1) * kPage) {
    Expect(at, mapped_ + at, std::min<size_t>(kOfAPage, offset + size - at));
  }
}

void CheckedFile::Expect(uint64_t offset, const char* bytes, size_t size) const {
  const size_t right = content_.Matching(offset, bytes, size);
  if (right != size) Fail(path_, "WRONG BYTE at " + std::to_string(offset + right));
}

}  // namespace soci::bench
