// Writes a zTOC. Buffers are built back to front, so the order of the calls below decides every byte, and with them the
// digest: it is the reference tool's order. The generated Create...() calls add fields by size and must not be used.
#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "indexer/codec/zinfo.h"
#include "indexer/ztoc/entry_type.h"
#include "indexer/ztoc/mod_time.h"
#include "indexer/ztoc/ztoc.h"
#include "proto/ztoc/tar_zinfo_generated.h"
#include "proto/ztoc/ztoc_generated.h"

namespace soci {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr std::string_view kVersion = "0.9";
constexpr int32_t kTarZinfoVersion = 2;
constexpr uint64_t kMaxSize = 1 << 30;  // the reference builder refuses to grow past it

Offset<flatbuffers::String> Text(FlatBufferBuilder& builder, std::string_view text) {
  return builder.CreateString(text.data(), text.size());
}

Offset<fbs::FileMetadata> WriteEntry(FlatBufferBuilder& builder, const tar::Entry& entry) {
  const auto name = Text(builder, entry.name);
  const auto type = Text(builder, EntryTypeName(entry.type));
  const auto link_name = Text(builder, entry.link_name);
  const auto uname = Text(builder, entry.uname);
  const auto gname = Text(builder, entry.gname);
  const auto mod_time = Text(builder, FormatModTime({entry.mtime_seconds, entry.mtime_nanoseconds}));
  std::vector<Offset<fbs::Xattr>> records;
  records.reserve(entry.pax.size());
  for (const auto& [key, value] : entry.pax) {
    const auto key_text = Text(builder, key);
    const auto value_text = Text(builder, value);
    fbs::XattrBuilder record(builder);
    record.add_key(key_text);
    record.add_value(value_text);
    records.push_back(record.Finish());
  }
  const auto xattrs = builder.CreateVector(records);
  fbs::FileMetadataBuilder file(builder);
  file.add_name(name);
  file.add_type(type);
  file.add_uncompressed_offset(static_cast<int64_t>(entry.header.end));
  file.add_uncompressed_size(entry.size);
  file.add_linkname(link_name);
  file.add_mode(entry.mode);
  file.add_uid(static_cast<uint32_t>(entry.uid));
  file.add_gid(static_cast<uint32_t>(entry.gid));
  file.add_uname(uname);
  file.add_gname(gname);
  file.add_mod_time(mod_time);
  file.add_devmajor(entry.device_major);
  file.add_devminor(entry.device_minor);
  file.add_xattrs(xattrs);
  return file.Finish();
}

std::string EncodeTarZinfo(const Ztoc& ztoc) {
  FlatBufferBuilder builder;
  fbs::TarZinfoBuilder zinfo(builder);
  zinfo.add_version(kTarZinfoVersion);
  zinfo.add_span_size(static_cast<int64_t>(ztoc.span_size));
  zinfo.add_size(static_cast<int64_t>(ztoc.compressed_size));
  builder.Finish(zinfo.Finish());
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

Result<Offset<flatbuffers::Vector<uint8_t>>> WriteCheckpoints(FlatBufferBuilder& builder, const Ztoc& ztoc) {
  if (ztoc.compression == Compression::kUncompressed) {
    const std::string zinfo = EncodeTarZinfo(ztoc);
    return builder.CreateVector(reinterpret_cast<const uint8_t*>(zinfo.data()), zinfo.size());
  }
  if (ztoc.checkpoints.size() != ztoc.windows.size() || ztoc.checkpoints.size() != ztoc.span_digests.size()) {
    return absl::InternalError("a checkpoint without its window or its span's digest");
  }
  SOCI_ASSIGN_OR_RETURN(const size_t size, ZinfoSize(ztoc.checkpoints.size()));
  uint8_t* bytes = nullptr;
  const Offset<flatbuffers::Vector<uint8_t>> vector(builder.CreateUninitializedVector(size, 1, &bytes));
  EncodeZinfo(ztoc.span_size, ztoc.checkpoints, ztoc.windows, std::as_writable_bytes(std::span(bytes, size)));
  return vector;
}

Result<Offset<fbs::CompressionInfo>> WriteCompression(FlatBufferBuilder& builder, const Ztoc& ztoc) {
  SOCI_ASSIGN_OR_RETURN(const auto checkpoints, WriteCheckpoints(builder, ztoc));
  std::vector<Offset<flatbuffers::String>> digests;
  digests.reserve(ztoc.span_digests.size());
  for (const oci::Digest& digest : ztoc.span_digests) digests.push_back(Text(builder, digest.ToString()));
  const auto digest_vector = builder.CreateVector(digests);
  fbs::CompressionInfoBuilder info(builder);
  info.add_max_span_id(static_cast<int32_t>(ztoc.span_digests.size()) - 1);
  info.add_span_digests(digest_vector);
  info.add_checkpoints(checkpoints);
  info.add_compression_algorithm(ztoc.compression == Compression::kGzip ? fbs::CompressionAlgorithm::Gzip
                                                                        : fbs::CompressionAlgorithm::Uncompressed);
  return info.Finish();
}

// Builds in the very string that is returned: a copy of a large zTOC is as large again.
class StringAllocator final : public flatbuffers::Allocator {
 public:
  uint8_t* allocate(size_t size) override {
    text_.resize(size);
    return reinterpret_cast<uint8_t*>(text_.data());
  }
  void deallocate(uint8_t*, size_t) override {}
  uint8_t* reallocate_downward(uint8_t*, size_t old_size, size_t new_size, size_t used_back,
                               size_t used_front) override {
    std::string larger(new_size, '\0');
    std::memcpy(larger.data() + new_size - used_back, text_.data() + old_size - used_back, used_back);
    std::memcpy(larger.data(), text_.data(), used_front);
    text_ = std::move(larger);
    return reinterpret_cast<uint8_t*>(text_.data());
  }

  // The buffer's end, where a finished FlatBuffer lies.
  std::string Take(size_t size) {
    text_.erase(0, text_.size() - size);
    return std::move(text_);
  }

 private:
  std::string text_;
};

// At least what the result will take.
uint64_t SizeOf(const Ztoc& ztoc) {
  uint64_t size = 1024 + ztoc.windows.size() * (kWindowSize + 128) + ztoc.span_digests.size() * 88;
  for (const tar::Entry& entry : ztoc.entries) {
    size += 192 + entry.name.size() + entry.link_name.size() + entry.uname.size() + entry.gname.size();
    for (const auto& [key, value] : entry.pax) size += 48 + key.size() + value.size();
  }
  return size;
}

}  // namespace

Result<std::string> EncodeZtoc(const Ztoc& ztoc) {
  const uint64_t size = SizeOf(ztoc);
  if (size > kMaxSize) {
    return absl::InvalidArgumentError(
        fmt::format("a zTOC of about {} MiB is more than its format can hold; use larger spans", size >> 20));
  }
  StringAllocator allocator;
  FlatBufferBuilder builder(size, &allocator);
  const auto version = Text(builder, kVersion);
  const auto build_tool = Text(builder, ztoc.build_tool);
  std::vector<Offset<fbs::FileMetadata>> files(ztoc.entries.size());
  for (size_t i = files.size(); i-- > 0;) files[i] = WriteEntry(builder, ztoc.entries[i]);
  const auto file_vector = builder.CreateVector(files);
  fbs::TOCBuilder toc_builder(builder);
  toc_builder.add_metadata(file_vector);
  const auto toc = toc_builder.Finish();
  SOCI_ASSIGN_OR_RETURN(const auto compression, WriteCompression(builder, ztoc));
  fbs::ZtocBuilder root(builder);
  root.add_version(version);
  root.add_build_tool_identifier(build_tool);
  root.add_toc(toc);
  root.add_compressed_archive_size(static_cast<int64_t>(ztoc.compressed_size));
  root.add_uncompressed_archive_size(static_cast<int64_t>(ztoc.uncompressed_size));
  root.add_compression_info(compression);
  builder.Finish(root.Finish());
  return allocator.Take(builder.GetSize());
}

}  // namespace soci
