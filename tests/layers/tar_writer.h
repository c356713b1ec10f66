// Writes tars exactly as wanted, sound or not: what layers of tests are made of. One thread.
//
// Members are ustar where that can hold them; names, times and xattrs that it cannot hold get PAX records (or GNU long
// names, if asked for).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace soci::test {

struct TarAttributes {
  uint32_t mode = 0644;
  uint32_t uid = 0;
  uint32_t gid = 0;
  int64_t mtime = 1'700'000'000;
  uint32_t mtime_nanoseconds = 0;
  std::map<std::string, std::string> xattrs = {};  // full names
};

class TarWriter {
 public:
  TarWriter& File(std::string_view name, std::string_view content, const TarAttributes& attributes = {});
  TarWriter& Directory(std::string_view name, const TarAttributes& attributes = {.mode = 0755});
  TarWriter& Symlink(std::string_view name, std::string_view target, const TarAttributes& attributes = {.mode = 0777});
  TarWriter& HardLink(std::string_view name, std::string_view target, const TarAttributes& attributes = {});
  TarWriter& CharDevice(std::string_view name, uint32_t major, uint32_t minor, const TarAttributes& attributes = {});
  TarWriter& BlockDevice(std::string_view name, uint32_t major, uint32_t minor, const TarAttributes& attributes = {});
  TarWriter& Fifo(std::string_view name, const TarAttributes& attributes = {});
  TarWriter& GnuLongNames(bool on = true);

  // Position of the next member's first block.
  uint64_t position() const { return tar_.size(); }

  // The archive: with its two zero blocks and `padding` more zero bytes.
  std::string Finish(size_t padding = 0) const;

 private:
  struct Member {
    std::string_view name, target;
    char type = '0';
    uint64_t size = 0;
    uint32_t major = 0, minor = 0;
  };
  TarWriter& Add(const Member& member, std::string_view content, const TarAttributes& attributes);
  void AppendBlock(const Member& member, const TarAttributes& attributes);
  void AppendData(std::string_view data);
  void AppendLongName(char type, std::string_view name);

  std::string tar_;
  bool gnu_ = false;
};

}  // namespace soci::test
