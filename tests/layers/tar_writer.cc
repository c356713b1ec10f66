#include "tests/layers/tar_writer.h"

#include <fmt/format.h>

#include <cstring>

namespace soci::test {
namespace {

struct Block {
  char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[8], uname[32],
      gname[32], major[8], minor[8], prefix[155], rest[12];
};
static_assert(sizeof(Block) == 512);

template <size_t size>
void PutText(char (&field)[size], std::string_view text) {
  std::memcpy(field, text.data(), std::min(size, text.size()));
}

template <size_t size>
void PutOctal(char (&field)[size], uint64_t number) {
  PutText(field, fmt::format("{:0{}o}", number, size - 1));
}

std::string PaxRecord(std::string_view key, std::string_view value) {
  const size_t bare = key.size() + value.size() + 3;
  size_t size = bare + 1;
  while (bare + fmt::format("{}", size).size() != size) size = bare + fmt::format("{}", size).size();
  return fmt::format("{} {}={}\n", size, key, value);
}

}  // namespace

TarWriter& TarWriter::File(std::string_view name, std::string_view content, const TarAttributes& attributes) {
  return Add({.name = name, .target = {}, .type = '0', .size = content.size()}, content, attributes);
}
TarWriter& TarWriter::Directory(std::string_view name, const TarAttributes& attributes) {
  return Add({.name = name, .target = {}, .type = '5'}, {}, attributes);
}
TarWriter& TarWriter::Symlink(std::string_view name, std::string_view target, const TarAttributes& attributes) {
  return Add({.name = name, .target = target, .type = '2'}, {}, attributes);
}
TarWriter& TarWriter::HardLink(std::string_view name, std::string_view target, const TarAttributes& attributes) {
  return Add({.name = name, .target = target, .type = '1'}, {}, attributes);
}
TarWriter& TarWriter::CharDevice(std::string_view name, uint32_t major, uint32_t minor,
                                 const TarAttributes& attributes) {
  return Add({.name = name, .target = {}, .type = '3', .major = major, .minor = minor}, {}, attributes);
}
TarWriter& TarWriter::BlockDevice(std::string_view name, uint32_t major, uint32_t minor,
                                  const TarAttributes& attributes) {
  return Add({.name = name, .target = {}, .type = '4', .major = major, .minor = minor}, {}, attributes);
}
TarWriter& TarWriter::Fifo(std::string_view name, const TarAttributes& attributes) {
  return Add({.name = name, .target = {}, .type = '6'}, {}, attributes);
}

TarWriter& TarWriter::GnuLongNames(bool on) {
  gnu_ = on;
  return *this;
}

TarWriter& TarWriter::Add(const Member& member, std::string_view content, const TarAttributes& attributes) {
  std::string pax;
  if (member.name.size() > 100) gnu_ ? AppendLongName('L', member.name) : void(pax += PaxRecord("path", member.name));
  if (member.target.size() > 100) {
    gnu_ ? AppendLongName('K', member.target) : void(pax += PaxRecord("linkpath", member.target));
  }
  if (attributes.mtime_nanoseconds != 0 || attributes.mtime < 0 || attributes.mtime >= (int64_t{1} << 33)) {
    const bool negative = attributes.mtime < 0 && attributes.mtime_nanoseconds != 0;
    const int64_t seconds = negative ? attributes.mtime + 1 : attributes.mtime;
    const uint32_t nanoseconds = negative ? 1'000'000'000 - attributes.mtime_nanoseconds : attributes.mtime_nanoseconds;
    pax += PaxRecord("mtime", fmt::format("{}{}.{:09}", negative && seconds == 0 ? "-" : "", seconds, nanoseconds));
  }
  if (attributes.uid > 07777777) pax += PaxRecord("uid", fmt::format("{}", attributes.uid));
  if (attributes.gid > 07777777) pax += PaxRecord("gid", fmt::format("{}", attributes.gid));
  for (const auto& [name, value] : attributes.xattrs) pax += PaxRecord("SCHILY.xattr." + name, value);
  if (!pax.empty()) {
    AppendBlock({.name = "PaxHeaders/member", .target = {}, .type = 'x', .size = pax.size()}, {});
    AppendData(pax);
  }
  AppendBlock(member, attributes);
  AppendData(content);
  return *this;
}

void TarWriter::AppendBlock(const Member& member, const TarAttributes& attributes) {
  Block block{};
  PutText(block.name, member.name);
  PutOctal(block.mode, attributes.mode);
  PutOctal(block.uid, attributes.uid > 07777777 ? 0 : attributes.uid);
  PutOctal(block.gid, attributes.gid > 07777777 ? 0 : attributes.gid);
  PutOctal(block.size, member.size);
  PutOctal(block.mtime, attributes.mtime < 0 || attributes.mtime >= (int64_t{1} << 33)
                            ? 0
                            : static_cast<uint64_t>(attributes.mtime));
  block.type = member.type;
  PutText(block.link, member.target);
  std::memcpy(block.magic, gnu_ ? "ustar  " : "ustar\00000", 8);
  PutOctal(block.major, member.major);
  PutOctal(block.minor, member.minor);
  std::memset(block.checksum, ' ', sizeof block.checksum);
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof block; ++i) sum += reinterpret_cast<const unsigned char*>(&block)[i];
  PutText(block.checksum, fmt::format("{:06o}", sum));
  block.checksum[6] = '\0';
  tar_.append(reinterpret_cast<const char*>(&block), sizeof block);
}

void TarWriter::AppendData(std::string_view data) {
  tar_.append(data);
  tar_.resize((tar_.size() + 511) / 512 * 512);
}

void TarWriter::AppendLongName(char type, std::string_view name) {
  AppendBlock({.name = "././@LongLink", .target = {}, .type = type, .size = name.size() + 1}, {});
  AppendData(std::string(name) + '\0');
}

std::string TarWriter::Finish(size_t padding) const { return tar_ + std::string(1024 + padding, '\0'); }

}  // namespace soci::test
