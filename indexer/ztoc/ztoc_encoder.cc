// Writes a zTOC. Buffers are built back to front, so the order of the calls below decides every byte, and with them the
// digest: it is the reference tool's order. The generated Create...() calls add fields by size and must not be used.
#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "indexer/base/units.h"
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

std::string EncodeTarZinfo(const ZtocHead& ztoc) {
  FlatBufferBuilder builder;
  fbs::TarZinfoBuilder zinfo(builder);
  zinfo.add_version(kTarZinfoVersion);
  zinfo.add_span_size(static_cast<int64_t>(ztoc.span_size));
  zinfo.add_size(static_cast<int64_t>(ztoc.compressed_size));
  builder.Finish(zinfo.Finish());
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

// Leaves a hole where the zinfo of a gzip layer goes: it is most of a zTOC, and its windows are to be copied once.
Result<Offset<flatbuffers::Vector<uint8_t>>> WriteCheckpoints(FlatBufferBuilder& builder, const ZtocDraft& ztoc) {
  if (ztoc.compression == Compression::kUncompressed) {
    const std::string zinfo = EncodeTarZinfo(ztoc);
    return builder.CreateVector(reinterpret_cast<const uint8_t*>(zinfo.data()), zinfo.size());
  }
  if (ztoc.checkpoints.size() != ztoc.windows.size() || ztoc.checkpoints.size() != ztoc.span_digests.size()) {
    return absl::InternalError("a checkpoint without its window or its span's digest");
  }
  SOCI_ASSIGN_OR_RETURN(const size_t size, ZinfoSize(ztoc.checkpoints.size()));
  uint8_t* hole = nullptr;
  return Offset<flatbuffers::Vector<uint8_t>>(builder.CreateUninitializedVector(size, 1, &hole));
}

struct WrittenCompression {
  Offset<fbs::CompressionInfo> info;
  Offset<flatbuffers::Vector<uint8_t>> checkpoints;
};

Result<WrittenCompression> WriteCompression(FlatBufferBuilder& builder, const ZtocDraft& ztoc) {
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
  return WrittenCompression{info.Finish(), checkpoints};
}

// Pages of zeros that are no memory until they are written.
class PageAllocator final : public flatbuffers::Allocator {
 public:
  uint8_t* allocate(size_t size) override {
    void* pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<uint8_t*>(pages);
  }
  void deallocate(uint8_t* pages, size_t size) override { ::munmap(pages, size); }
};

// Appends to `out`, and gives up the pages that were copied.
void Drain(const uint8_t* from, size_t size, std::string& out) {
  static const auto kPage = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (size_t done = 0; done < size;) {
    const size_t part = std::min<size_t>(1_MiB, size - done);
    out.append(reinterpret_cast<const char*>(from + done), part);
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(from + done) + kPage - 1) & ~(kPage - 1);
    const uintptr_t end = reinterpret_cast<uintptr_t>(from + done + part) & ~(kPage - 1);
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    done += part;
  }
}

// At least what the result will take.
uint64_t SizeOf(const ZtocDraft& ztoc) {
  const uint64_t size = 1024 + ztoc.windows.size() * (kWindowSize + 128) + ztoc.span_digests.size() * 88;
  return size + ztoc.entries.size() * 192 + ztoc.entries.records() * 48 + ztoc.entries.text_bytes();
}

// The entries, from the last to the first; they are let go.
Offset<fbs::TOC> WriteToc(FlatBufferBuilder& builder, tar::EntryList entries) {
  std::vector<Offset<fbs::FileMetadata>> files(entries.size());
  while (!entries.empty()) {
    const size_t last = entries.size() - 1;
    files[last] = WriteEntry(builder, entries.TakeBack());
  }
  const auto file_vector = builder.CreateVector(files);
  fbs::TOCBuilder toc(builder);
  toc.add_metadata(file_vector);
  return toc.Finish();
}

}  // namespace

Result<std::string> EncodeZtoc(ZtocDraft ztoc) {
  const uint64_t size = SizeOf(ztoc);
  if (size > kMaxSize) {
    return absl::InvalidArgumentError(
        fmt::format("a zTOC of about {} MiB is more than its format can hold; use larger spans", size >> 20));
  }
  PageAllocator pages;
  FlatBufferBuilder builder(size, &pages);
  const auto version = Text(builder, kVersion);
  const auto build_tool = Text(builder, ztoc.build_tool);
  const auto toc = WriteToc(builder, std::move(ztoc.entries));
  SOCI_ASSIGN_OR_RETURN(const WrittenCompression compression, WriteCompression(builder, ztoc));
  fbs::ZtocBuilder root(builder);
  root.add_version(version);
  root.add_build_tool_identifier(build_tool);
  root.add_toc(toc);
  root.add_compressed_archive_size(static_cast<int64_t>(ztoc.compressed_size));
  root.add_uncompressed_archive_size(static_cast<int64_t>(ztoc.uncompressed_size));
  root.add_compression_info(compression.info);
  builder.Finish(root.Finish());

  std::string out;
  out.reserve(builder.GetSize());
  const uint8_t* const begin = builder.GetBufferPointer();
  const uint8_t* const end = begin + builder.GetSize();
  const uint8_t* rest = begin;
  if (ztoc.compression == Compression::kGzip) {
    rest = end - compression.checkpoints.o + sizeof(flatbuffers::uoffset_t);  // offsets count from the end
    Drain(begin, static_cast<size_t>(rest - begin), out);
    rest += *ZinfoSize(ztoc.checkpoints.size());
    AppendZinfo(ztoc.span_size, ztoc.checkpoints, std::move(ztoc.windows), out);
  }
  Drain(rest, static_cast<size_t>(end - rest), out);
  return out;
}

}  // namespace soci
