#include "bench/run/mapped_blob.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <stdexcept>

#include "indexer/base/unique_fd.h"

namespace soci::bench {
namespace {

constexpr size_t kPiece = 16 << 20;

}  // namespace

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

oci::Digest MappedBlob::MakeDigest(const std::stop_token& stop) const {
  oci::Hasher hasher;
  for (std::string_view left = bytes(); !left.empty(); left.remove_prefix(std::min(kPiece, left.size()))) {
    if (stop.stop_requested()) throw std::runtime_error("interrupted");
    hasher.Update(AsBytes(left.substr(0, kPiece)));
  }
  return hasher.Finish();
}

}  // namespace soci::bench
