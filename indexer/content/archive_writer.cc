#include "indexer/content/archive_writer.h"

#include <algorithm>

#include "indexer/base/file_io.h"
#include "indexer/base/units.h"
#include "indexer/tar/header.h"
#include "indexer/tar/write_header.h"

namespace soci {

Status ArchiveWriter::AppendFile(const std::string& name, std::string_view content) {
  SOCI_RETURN_IF_ERROR(Append(tar::FileHeaderBlock(name, content.size())));
  SOCI_RETURN_IF_ERROR(Append(AsBytes(content)));
  return Pad();
}

Status ArchiveWriter::AppendFile(const std::string& name, const ByteSource& from, uint64_t begin, uint64_t size) {
  SOCI_RETURN_IF_ERROR(Append(tar::FileHeaderBlock(name, size)));
  SOCI_RETURN_IF_ERROR(Copy(from, begin, begin + size));
  return Pad();
}

Status ArchiveWriter::Copy(const ByteSource& from, uint64_t begin, uint64_t end) {
  ByteBuffer buffer(std::min<uint64_t>(1_MiB, end - begin));
  while (begin < end) {
    const MutableByteSpan piece = MutableByteSpan(buffer).first(std::min<uint64_t>(buffer.size(), end - begin));
    SOCI_RETURN_IF_ERROR(from.ReadAt(begin, piece, {}));
    SOCI_RETURN_IF_ERROR(Append(piece));
    begin += piece.size();
  }
  return Pad();
}

Status ArchiveWriter::Finish() { return Append(ByteBuffer(2 * tar::kBlockSize)); }

Status ArchiveWriter::Append(ByteSpan bytes) {
  SOCI_RETURN_IF_ERROR(WriteFullAt(fd_, position_, bytes, name_));
  position_ += bytes.size();
  return OkStatus();
}

Status ArchiveWriter::Pad() { return Append(ByteBuffer(tar::RoundToBlock(position_) - position_)); }

}  // namespace soci
