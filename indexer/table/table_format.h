// The layer table's bytes: a header, then sections of fixed-size little-endian records and two pools. docs/formats.md
// says it in words; kFormatVersion changes with every change here, LayerTable::kLayout only with the numbering of
// inodes. Values; no thread rules.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace soci::table {

static_assert(std::endian::native == std::endian::little, "tables are mapped, not parsed");

inline constexpr std::array<char, 8> kMagic = {'S', 'O', 'C', 'I', 'T', 'B', 'L', '\n'};
inline constexpr uint32_t kFormatVersion = 2;

// Nothing above 2^31 is a layer that anybody can mount, and 32-bit numbers keep records small.
inline constexpr uint64_t kMaxInodes = uint64_t{1} << 31;

enum class Section : uint32_t { kInodes, kChildren, kXattrs, kSpans, kContents, kHeaders, kStrings, kWindows };
inline constexpr size_t kSectionCount = 8;

struct SectionEntry {
  uint64_t offset;  // in the file, a multiple of 8
  uint64_t size;    // in bytes
  uint32_t crc32c;  // of the section; of kWindows 0: each window has its own
  uint32_t reserved;
};

struct FileHeader {
  std::array<char, 8> magic;
  uint32_t format_version;
  uint32_t layout;
  std::array<std::byte, 32> layer;  // digest of the layer as stored
  uint64_t file_size;
  uint64_t compressed_size;
  uint64_t uncompressed_size;
  uint8_t compression;
  uint8_t has_implied_directories;
  std::array<uint8_t, 6> reserved;
  std::array<SectionEntry, kSectionCount> sections;
  uint32_t reserved_end;
  uint32_t crc32c;  // of everything before it
};

// The n-th record is inode n + 1.
struct InodeRecord {
  uint32_t mode;
  uint32_t uid;
  uint32_t gid;
  uint32_t link_count;
  uint64_t size;  // directory: number of children; symlink: length of the target
  int64_t mtime_seconds;
  uint32_t mtime_nanoseconds;
  uint32_t device_major;
  uint32_t device_minor;
  uint32_t first_xattr;
  uint32_t xattr_count;
  uint32_t parent;    // of a directory; the root's is the root
  uint64_t position;  // directory: first child; regular file: begin of its data; symlink: target in kStrings
};

struct ChildRecord {
  uint64_t name;  // in kStrings
  uint32_t name_length;
  uint32_t inode;
};

struct XattrRecord {
  uint64_t name;
  uint64_t value;
  uint32_t name_length;
  uint32_t value_length;
};

struct SpanRecord {
  uint64_t compressed_begin;
  uint64_t compressed_end;
  uint64_t uncompressed_begin;
  uint64_t uncompressed_end;
  std::array<std::byte, 32> digest;
  uint64_t window;  // in kWindows, packed
  uint32_t window_length;
  uint32_t window_crc32c;
  uint32_t bits;
  uint32_t reserved;
};

struct ContentRecord {
  uint64_t begin;
  uint64_t end;
  uint32_t inode;
  uint32_t reserved;
};

struct HeaderRecord {
  uint64_t begin;
  uint64_t end;
  std::array<std::byte, 16> fingerprint;
};

static_assert(sizeof(FileHeader) == 280 && sizeof(InodeRecord) == 64 && sizeof(ChildRecord) == 16);
static_assert(sizeof(XattrRecord) == 24 && sizeof(SpanRecord) == 88 && sizeof(ContentRecord) == 24);
static_assert(sizeof(HeaderRecord) == 32);
static_assert(std::is_trivially_copyable_v<FileHeader> && std::is_trivially_copyable_v<SpanRecord>);

}  // namespace soci::table
