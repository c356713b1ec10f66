#include "bench/run/mapped_blob.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <stdexcept>

#include "indexer/base/unique_fd.h"

namespace soci::bench {

MappedBlob::MappedBlob(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) throw std::runtime_error("cannot read " + path);
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) throw std::runtime_error(path + " is empty");
  begin_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (begin_ == MAP_FAILED) throw std::runtime_error("cannot map " + path);
}

MappedBlob::~MappedBlob() { ::munmap(begin_, size_); }

}  // namespace soci::bench
