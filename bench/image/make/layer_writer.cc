#include "bench/image/make/layer_writer.h"

#include <fcntl.h>
#include <libdeflate.h>

#include <algorithm>
#include <stdexcept>

#include "bench/image/content.h"
#include "indexer/base/file_io.h"
#include "tests/support/tar_builder.h"

namespace soci::bench {
namespace {

constexpr size_t kTarBlock = 512;
constexpr char kGzipHeader[] = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, '\xff'};

void ThrowIfWrong(const Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(Message(status)));
}

void PutLittleEndian(std::string& out, uint32_t value) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
}

}  // namespace

LayerWriter::LayerWriter(const std::string& folder, std::string name, uint64_t image_seed, int level)
    : path_(folder + "/" + name), image_seed_(image_seed), compressor_(level) {
  written_.name = std::move(name);
  auto fd = OpenFile(path_ + ".tar.gz", O_WRONLY | O_CREAT | O_TRUNC);
  ThrowIfWrong(fd.status());
  fd_ = *std::move(fd);
  piece_.reserve(kDeflatePiece);
  Write({kGzipHeader, sizeof kGzipHeader});
}

void LayerWriter::Add(const TreeEntry& entry) {
  test::TarAttributes attributes;
  if (entry.executable) attributes.mode = 0755;
  if (entry.has_xattr) attributes.xattrs[kXattrName] = entry.path;
  test::TarBuilder tar;
  switch (entry.type) {
    case TreeEntry::Type::kFile:
      Append(tar.FileHeader(entry.path, entry.size, attributes).Take());
      AppendContent(entry);
      return;
    case TreeEntry::Type::kDirectory:
      tar.Directory(entry.path);
      break;
    case TreeEntry::Type::kSymlink:
      tar.Symlink(entry.path, entry.target);
      break;
    case TreeEntry::Type::kHardLink:
      tar.HardLink(entry.path, entry.target, attributes);
      break;
    case TreeEntry::Type::kWhiteout:
      tar.Whiteout(entry.path);
      break;
    case TreeEntry::Type::kOpaque:
      tar.Opaque(entry.path);
      break;
  }
  Append(tar.Take());
}

void LayerWriter::AddFile(const std::string& path, std::string_view content, bool executable) {
  Append(test::TarBuilder().File(path, content, {.mode = executable ? 0755 : 0644}).Take());
}

WrittenLayer LayerWriter::Finish() {
  Append(std::string(2 * kTarBlock, '\0'));
  WritePiece();
  std::string end(kDeflateEnd);
  PutLittleEndian(end, crc_);
  PutLittleEndian(end, static_cast<uint32_t>(written_.uncompressed_bytes));
  Write(end);
  written_.diff_id = oci::DiffId(uncompressed_.Finish());
  written_.digest = oci::LayerDigest(compressed_.Finish());
  ThrowIfWrong(ReplaceFile(path_ + ".diff_id", written_.diff_id.ToString() + "\n"));
  return written_;
}

void LayerWriter::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t count = std::min(bytes.size(), kDeflatePiece - piece_.size());
    piece_ += bytes.substr(0, count);
    bytes.remove_prefix(count);
    if (piece_.size() == kDeflatePiece) WritePiece();
  }
}

void LayerWriter::AppendContent(const TreeEntry& entry) {
  const FileContent content(image_seed_, entry.path);
  for (uint64_t done = 0; done < entry.size;) {
    const size_t count = std::min<uint64_t>(kDeflatePiece - piece_.size(), entry.size - done);
    const size_t before = piece_.size();
    piece_.resize(before + count);
    content.Fill(done, piece_.data() + before, count);
    done += count;
    if (piece_.size() == kDeflatePiece) WritePiece();
  }
  Append(std::string((kTarBlock - entry.size % kTarBlock) % kTarBlock, '\0'));
}

void LayerWriter::WritePiece() {
  if (piece_.empty()) return;
  uncompressed_.Update(AsBytes(piece_));
  crc_ = libdeflate_crc32(crc_, piece_.data(), piece_.size());
  written_.uncompressed_bytes += piece_.size();
  Write(compressor_.Compress(piece_));
  piece_.clear();
}

void LayerWriter::Write(std::string_view bytes) {
  compressed_.Update(AsBytes(bytes));
  ThrowIfWrong(WriteFullAt(fd_.get(), written_.compressed_bytes, AsBytes(bytes), path_ + ".tar.gz"));
  written_.compressed_bytes += bytes.size();
}

}  // namespace soci::bench
