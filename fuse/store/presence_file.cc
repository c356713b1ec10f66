#include "fuse/store/presence_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "indexer/base/crc32c.h"
#include "indexer/base/file_io.h"

namespace soci {
namespace {

constexpr std::array<char, 8> kMagic = {'S', 'O', 'C', 'I', 'P', 'R', 'S', '\n'};
constexpr uint32_t kVersion = 2;

struct DiskHeader {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t span_count;
  std::array<std::byte, 32> layer;
  std::array<std::byte, 16> spans;  // SpanLayoutFingerprint
  uint32_t flags;                   // apart from the rest, so that it changes in one small write
  uint32_t flags_check;             // ~flags
  BootId boot;                      // in which kClean was set, and holds
};
static_assert(sizeof(DiskHeader) == 88);

struct DiskRecord {
  uint64_t residue_offset;
  uint32_t residue_size;
  uint32_t crc32c;
  uint32_t present;
  uint32_t check;  // CRC-32C of the fields before it and the span's number
};
static_assert(sizeof(DiskRecord) == 24);

template <typename T>
ByteSpan BytesOf(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

uint32_t CheckOf(const DiskRecord& record, uint32_t span) {
  return Crc32c(BytesOf(span), Crc32c(BytesOf(record).first(offsetof(DiskRecord, check))));
}

DiskHeader HeaderOf(const LayerTable& table) {
  DiskHeader header{};
  header.magic = kMagic;
  header.version = kVersion;
  header.span_count = table.span_count();
  header.layer = table.layer().raw();
  header.spans = SpanLayoutFingerprint(table);
  return header;
}

}  // namespace

std::array<std::byte, 16> SpanLayoutFingerprint(const LayerTable& table) {
  oci::Hasher hasher;
  for (uint32_t i = 0; i < table.span_count(); ++i) {
    const UncompressedRange range = table.Extent(SpanId{i}).uncompressed;
    hasher.Update(BytesOf(range));
  }
  const oci::Digest digest = hasher.Finish();
  std::array<std::byte, 16> fingerprint;
  std::memcpy(fingerprint.data(), digest.raw().data(), fingerprint.size());
  return fingerprint;
}

PresenceFile::PresenceFile(PresenceFile&& other) noexcept SOCI_NO_THREAD_SAFETY_ANALYSIS
    : path_(std::move(other.path_)),
      boot_(other.boot_),
      was_new_(other.was_new_),
      was_clean_(other.was_clean_),
      was_condemned_(other.was_condemned_),
      was_sealed_now_(other.was_sealed_now_),
      flags_(other.flags_) {}

Status PresenceFile::Begin(const LayerTable& table) {
  DiskHeader header = HeaderOf(table);
  header.flags = kClean;
  header.flags_check = ~header.flags;
  header.boot = boot_;
  SOCI_ASSIGN_OR_RETURN(const UniqueFd file, OpenFile(path_, O_WRONLY | O_TRUNC));
  SOCI_RETURN_IF_ERROR(WriteFullAt(file.get(), 0, BytesOf(header), path_));
  const uint64_t size = sizeof header + uint64_t{table.span_count()} * sizeof(DiskRecord);
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return ErrnoStatus(errno, path_);
  was_new_ = true;
  return OkStatus();
}

Result<PresenceFile> PresenceFile::Open(const std::string& path, const LayerTable& table, const BootId& boot,
                                        std::vector<SpanRecord>& records) {
  SOCI_ASSIGN_OR_RETURN(const UniqueFd file, OpenFile(path, O_RDWR | O_CREAT, 0600));
  PresenceFile presence(path, boot);
  records.assign(table.span_count(), {});
  struct stat attributes {};
  if (::fstat(file.get(), &attributes) != 0) return ErrnoStatus(errno, path);
  const DiskHeader wanted = HeaderOf(table);
  DiskHeader header{};
  const uint64_t size = sizeof header + uint64_t{table.span_count()} * sizeof(DiskRecord);
  const bool whole = static_cast<uint64_t>(attributes.st_size) == size;
  if (whole) SOCI_RETURN_IF_ERROR(ReadFullAt(file.get(), 0, std::as_writable_bytes(std::span(&header, 1)), path));
  if (!whole || std::memcmp(&header, &wanted, offsetof(DiskHeader, flags)) != 0) {
    SOCI_RETURN_IF_ERROR(presence.Begin(table));
    return presence;
  }
  const bool sound = header.flags == ~header.flags_check;
  presence.was_clean_ = sound && (header.flags & kClean) != 0 && header.boot == boot;
  presence.was_condemned_ = sound && (header.flags & kCondemned) != 0;
  presence.was_sealed_now_ = sound && (header.flags & kSealed) != 0 && header.boot == boot;
  presence.flags_ = sound ? header.flags : 0;
  if (!presence.was_clean_) presence.flags_ &= ~uint32_t{kClean};
  if (!presence.was_sealed_now_) presence.flags_ &= ~uint32_t{kSealed};
  std::vector<DiskRecord> disk(table.span_count());
  SOCI_RETURN_IF_ERROR(ReadFullAt(file.get(), sizeof header, std::as_writable_bytes(std::span(disk)), path));
  for (uint32_t i = 0; i < disk.size(); ++i) {
    if (disk[i].present > 1 || disk[i].check != CheckOf(disk[i], i)) continue;
    records[i] = {disk[i].present == 1, disk[i].crc32c, disk[i].residue_offset, disk[i].residue_size};
  }
  return presence;
}

Status PresenceFile::WriteFlags(uint32_t flags, bool durable) {
  struct {
    uint32_t flags, check;
    BootId boot;
  } tail{flags, ~flags, boot_};
  static_assert(sizeof tail == sizeof(DiskHeader) - offsetof(DiskHeader, flags));
  SOCI_ASSIGN_OR_RETURN(const UniqueFd file, OpenFile(path_, O_WRONLY));
  SOCI_RETURN_IF_ERROR(WriteFullAt(file.get(), offsetof(DiskHeader, flags), BytesOf(tail), path_));
  if (durable && ::fdatasync(file.get()) != 0) return ErrnoStatus(errno, path_);
  flags_ = flags;
  return OkStatus();
}

Status PresenceFile::MarkInUse() {
  MutexLock lock(mutex_);
  return (flags_ & kClean) == 0 ? OkStatus() : WriteFlags(flags_ & ~kClean, false);
}

Status PresenceFile::Record(SpanId span, const SpanRecord& record) {
  SOCI_RETURN_IF_ERROR(MarkInUse());
  DiskRecord disk{record.residue_offset, record.residue_size, record.crc32c, record.present ? 1u : 0u, 0};
  disk.check = CheckOf(disk, ToIndex(span));
  SOCI_ASSIGN_OR_RETURN(const UniqueFd file, OpenFile(path_, O_WRONLY));
  return WriteFullAt(file.get(), sizeof(DiskHeader) + uint64_t{ToIndex(span)} * sizeof disk, BytesOf(disk), path_);
}

Status PresenceFile::Condemn() {
  MutexLock lock(mutex_);
  return WriteFlags(flags_ | kCondemned, true);
}

Status PresenceFile::MarkClean() {
  MutexLock lock(mutex_);
  if ((flags_ & kClean) != 0) return OkStatus();
  return WriteFlags(flags_ | kClean, false);
}

Status PresenceFile::MarkSealed() {
  MutexLock lock(mutex_);
  return WriteFlags(flags_ | kSealed, false);
}

}  // namespace soci
