// Writes a tar member by member: what a test describes, PAX records where ustar has no room (long names, xattrs, times
// with fractions or before 1970; long names GNU's way if asked for). Members are written as told, in that order,
// without sense or sorting. A value; no thread rules.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace soci::test {

struct TarAttributes {
  int64_t mode = -1;  // -1: 0755 for directories, 0644 otherwise
  int64_t uid = 0;
  int64_t gid = 0;
  int64_t mtime = 1'600'000'000;
  uint32_t mtime_nanoseconds = 0;
  std::map<std::string, std::string> xattrs = {};  // full names, such as "user.color"
};

class TarBuilder {
 public:
  TarBuilder& Directory(std::string_view path, const TarAttributes& attributes = {});
  TarBuilder& File(std::string_view path, std::string_view content, const TarAttributes& attributes = {});
  // Only its header: the caller writes the content, and the zeros behind it up to a whole block.
  TarBuilder& FileHeader(std::string_view path, uint64_t size, const TarAttributes& attributes = {});
  TarBuilder& Symlink(std::string_view path, std::string_view target, const TarAttributes& attributes = {});
  TarBuilder& HardLink(std::string_view path, std::string_view target, const TarAttributes& attributes = {});
  TarBuilder& CharDevice(std::string_view path, int major, int minor, const TarAttributes& attributes = {});
  TarBuilder& BlockDevice(std::string_view path, int major, int minor, const TarAttributes& attributes = {});
  TarBuilder& Fifo(std::string_view path, const TarAttributes& attributes = {});
  // Deletes the entry of lower layers.
  TarBuilder& Whiteout(std::string_view path);
  // Hides everything of lower layers below the directory.
  TarBuilder& Opaque(std::string_view directory);

  // From now on long names and link targets get members of their own before them, as GNU tar writes them.
  TarBuilder& GnuLongNames();

  // The tar so far with its two closing blocks, and more zeros after them.
  std::string Finish(size_t padding = 0) const;
  // The tar so far, which then goes on without it.
  std::string Take() { return std::exchange(bytes_, {}); }

 private:
  struct Member;
  TarBuilder& Add(const Member& member, const TarAttributes& attributes);

  std::string bytes_;
  bool gnu_ = false;
};

// One gzip member; `level` as zlib's.
std::string Gzip(std::string_view bytes, int level = 6);

// Bytes that compress badly and depend on the seed only.
std::string NoiseBytes(size_t size, uint64_t seed);
// Text that compresses to about a third.
std::string ProseBytes(size_t size, uint64_t seed);

}  // namespace soci::test
