#include "indexer/base/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "indexer/base/file_io.h"
#include "indexer/base/units.h"

namespace soci {
namespace {

Status CheckInside(uint64_t offset, uint64_t length, uint64_t size, std::string_view name) {
  if (offset <= size && length <= size - offset) return OkStatus();
  return absl::OutOfRangeError(fmt::format("{}: bytes {}+{} are beyond its end at {}", name, offset, length, size));
}

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}

  uint64_t size() const override { return bytes_.size(); }
  Status ReadAt(uint64_t offset, MutableByteSpan out, const FetchContext&) const override {
    SOCI_RETURN_IF_ERROR(CheckInside(offset, out.size(), bytes_.size(), "memory"));
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return OkStatus();
  }

 private:
  const std::string bytes_;
};

class FileSource final : public ByteSource {
 public:
  FileSource(UniqueFd file, std::string name, uint64_t size)
      : file_(std::move(file)), name_(std::move(name)), size_(size) {}

  uint64_t size() const override { return size_; }
  Status ReadAt(uint64_t offset, MutableByteSpan out, const FetchContext&) const override {
    SOCI_RETURN_IF_ERROR(CheckInside(offset, out.size(), size_, name_));
    return ReadFullAt(file_.get(), offset, out, name_);
  }

 private:
  const UniqueFd file_;
  const std::string name_;
  const uint64_t size_;
};

// Stands for a read that StartRead has already finished.
class FinishedTransfer final : public Transfer {
 public:
  void Pause() override {}
  void Resume() override {}
  void Cancel() override {}
};

}  // namespace

std::shared_ptr<Transfer> ByteSource::StartRead(uint64_t offset, uint64_t length, const FetchContext& context,
                                                std::shared_ptr<ByteSink> sink) const {
  ByteBuffer piece(std::min<uint64_t>(length, 256_KiB));
  Status status;
  while (status.ok() && length > 0) {
    MutableByteSpan out(piece.data(), std::min<uint64_t>(length, piece.size()));
    status = context.stop.stop_requested() ? absl::CancelledError("read cancelled") : ReadAt(offset, out, context);
    if (status.ok()) status = sink->OnBytes(out);
    offset += out.size();
    length -= out.size();
  }
  sink->OnEnd(status);
  return std::make_shared<FinishedTransfer>();
}

std::unique_ptr<ByteSource> MakeMemorySource(std::string bytes) {
  return std::make_unique<MemorySource>(std::move(bytes));
}

Result<std::unique_ptr<ByteSource>> MakeFileSource(UniqueFd file, std::string name) {
  struct stat attributes {};
  if (::fstat(file.get(), &attributes) != 0) return ErrnoStatus(errno, name);
  if (!S_ISREG(attributes.st_mode)) return absl::InvalidArgumentError(fmt::format("{}: not a regular file", name));
  return std::make_unique<FileSource>(std::move(file), std::move(name), static_cast<uint64_t>(attributes.st_size));
}

Result<std::unique_ptr<ByteSource>> OpenFileSource(const std::string& path) {
  SOCI_ASSIGN_OR_RETURN(UniqueFd file, OpenFile(path, O_RDONLY));
  return MakeFileSource(std::move(file), path);
}

}  // namespace soci
