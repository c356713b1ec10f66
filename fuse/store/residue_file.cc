#include "fuse/store/residue_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "indexer/base/file_io.h"
#include "indexer/codec/pack.h"

namespace soci {

// Opened for each use: a span's worth of work is far more than an open, and hundreds of layers hold no descriptor.
Status ResidueFile::Open() {
  struct stat attributes {};
  if (::stat(path_.c_str(), &attributes) != 0) {
    if (errno != ENOENT) return ErrnoStatus(errno, path_);
    attributes.st_size = 0;
  }
  end_ = static_cast<uint64_t>(attributes.st_size);
  return OkStatus();
}

Result<ResidueFile::Place> ResidueFile::Write(ByteSpan residue, Place before) {
  const std::string packed = Pack(residue);
  SOCI_ASSIGN_OR_RETURN(const UniqueFd file, OpenFile(path_, O_WRONLY | O_CREAT, 0600));
  const auto size = static_cast<uint32_t>(packed.size());
  const bool fits = size <= before.size && before.offset + before.size <= end_;
  const Place place{fits ? before.offset : end_.fetch_add(size), size};
  SOCI_RETURN_IF_ERROR(WriteFullAt(file.get(), place.offset, AsBytes(packed), path_));
  return place;
}

Status ResidueFile::Read(Place place, MutableByteSpan residue) const {
  if (place.size > residue.size() * 2 + 1024) return absl::DataLossError(fmt::format("{}: damaged", path_));
  SOCI_ASSIGN_OR_RETURN(const UniqueFd file, OpenFile(path_, O_RDONLY));
  ByteBuffer packed(place.size);
  SOCI_RETURN_IF_ERROR(ReadFullAt(file.get(), place.offset, packed, path_));
  return Annotate(Unpack(packed, residue), path_);
}

}  // namespace soci
