#include "tests/support/tar_builder.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>

namespace soci::test {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kNameBytes = 100;
constexpr int64_t kMostOctal7 = 07777777;
constexpr int64_t kMostOctal11 = 077777777777;

struct Header {
  char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6], version[2],
      uname[32], gname[32], major[8], minor[8], prefix[155], padding[12];
};
static_assert(sizeof(Header) == kBlock);

template <size_t kSize>
void PutOctal(char (&field)[kSize], int64_t value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%0*llo", static_cast<int>(kSize - 1),
                static_cast<unsigned long long>(value));
  std::memcpy(field, text.data(), kSize - 1);
}

template <size_t kSize>
void PutText(char (&field)[kSize], std::string_view text) {
  std::copy_n(text.begin(), std::min(kSize, text.size()), field);
}

std::string Padded(std::string_view bytes) {
  std::string padded(bytes);
  padded.resize((padded.size() + kBlock - 1) / kBlock * kBlock, '\0');
  return padded;
}

// "<length> key=value\n", where the length counts itself.
std::string PaxRecord(std::string_view key, std::string_view value) {
  const size_t rest = key.size() + value.size() + 3;
  size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) ++length;
  return std::to_string(length) + " " + std::string(key) + "=" + std::string(value) + "\n";
}

// A time before 1970 with a fraction counts backwards: -1.25 is a quarter before the last second.
std::string PaxTime(int64_t seconds, uint32_t nanoseconds) {
  if (nanoseconds == 0) return std::to_string(seconds);
  const bool backwards = seconds < 0;
  const int64_t whole = backwards ? -(seconds + 1) : seconds;
  std::array<char, 16> fraction;
  std::snprintf(fraction.data(), fraction.size(), ".%09u", backwards ? 1'000'000'000 - nanoseconds : nanoseconds);
  return (backwards ? "-" : "") + std::to_string(whole) + fraction.data();
}

std::string Block(const Header& header_without_checksum) {
  Header header = header_without_checksum;
  std::memset(header.checksum, ' ', sizeof header.checksum);
  unsigned sum = 0;
  for (unsigned char byte : std::string_view(reinterpret_cast<const char*>(&header), kBlock)) sum += byte;
  std::snprintf(header.checksum, sizeof header.checksum, "%06o", sum);
  header.checksum[7] = ' ';
  return std::string(reinterpret_cast<const char*>(&header), kBlock);
}

// The member that GNU tar puts before one whose name ('L') or link target ('K') is long.
std::string GnuLongName(char type, std::string_view name) {
  Header header{};
  PutText(header.name, "././@LongLink");
  PutOctal(header.size, static_cast<int64_t>(name.size()) + 1);
  header.type = type;
  std::memcpy(header.magic, "ustar ", 6);
  header.version[0] = ' ';
  return Block(header) + Padded(std::string(name) + '\0');
}

}  // namespace

struct TarBuilder::Member {
  char type;
  std::string_view path;
  std::string_view content;
  std::string_view link;
  int major = 0;
  int minor = 0;
  uint64_t size_to_come = 0;  // of content that the caller writes
};

TarBuilder& TarBuilder::Add(const Member& member, const TarAttributes& attributes) {
  Header header{};
  std::string pax;
  PutText(header.name, member.path);
  if (member.path.size() > kNameBytes) {
    gnu_ ? bytes_ += GnuLongName('L', member.path) : pax += PaxRecord("path", member.path);
  }
  PutText(header.link, member.link);
  if (member.link.size() > kNameBytes) {
    gnu_ ? bytes_ += GnuLongName('K', member.link) : pax += PaxRecord("linkpath", member.link);
  }
  const int64_t mode = attributes.mode >= 0 ? attributes.mode : member.type == '5' ? 0755 : 0644;
  PutOctal(header.mode, mode);
  PutOctal(header.uid, attributes.uid <= kMostOctal7 ? attributes.uid : 0);
  PutOctal(header.gid, attributes.gid <= kMostOctal7 ? attributes.gid : 0);
  if (attributes.uid > kMostOctal7) pax += PaxRecord("uid", std::to_string(attributes.uid));
  if (attributes.gid > kMostOctal7) pax += PaxRecord("gid", std::to_string(attributes.gid));
  PutOctal(header.size, static_cast<int64_t>(member.content.size() + member.size_to_come));
  const bool plain_time = attributes.mtime >= 0 && attributes.mtime <= kMostOctal11;
  PutOctal(header.mtime, plain_time ? attributes.mtime : 0);
  if (!plain_time || attributes.mtime_nanoseconds != 0) {
    pax += PaxRecord("mtime", PaxTime(attributes.mtime, attributes.mtime_nanoseconds));
  }
  for (const auto& [name, value] : attributes.xattrs) pax += PaxRecord("SCHILY.xattr." + name, value);
  header.type = member.type;
  std::memcpy(header.magic, gnu_ ? "ustar " : "ustar", 6);
  std::memcpy(header.version, gnu_ ? " " : "00", 2);
  PutOctal(header.major, member.major);
  PutOctal(header.minor, member.minor);

  if (!pax.empty()) {
    Header extended = header;
    std::memset(extended.name, 0, sizeof extended.name);
    std::memset(extended.link, 0, sizeof extended.link);
    PutText(extended.name, "pax");
    PutOctal(extended.size, static_cast<int64_t>(pax.size()));
    extended.type = 'x';
    bytes_ += Block(extended) + Padded(pax);
  }
  bytes_ += Block(header) + Padded(member.content);
  return *this;
}

TarBuilder& TarBuilder::Directory(std::string_view path, const TarAttributes& attributes) {
  const std::string name = path.ends_with('/') ? std::string(path) : std::string(path) + "/";
  return Add({'5', name, {}, {}}, attributes);
}
TarBuilder& TarBuilder::File(std::string_view path, std::string_view content, const TarAttributes& attributes) {
  return Add({'0', path, content, {}}, attributes);
}
TarBuilder& TarBuilder::FileHeader(std::string_view path, uint64_t size, const TarAttributes& attributes) {
  return Add({'0', path, {}, {}, 0, 0, size}, attributes);
}
TarBuilder& TarBuilder::Symlink(std::string_view path, std::string_view target, const TarAttributes& attributes) {
  return Add({'2', path, {}, target}, attributes);
}
TarBuilder& TarBuilder::HardLink(std::string_view path, std::string_view target, const TarAttributes& attributes) {
  return Add({'1', path, {}, target}, attributes);
}
TarBuilder& TarBuilder::CharDevice(std::string_view path, int major, int minor, const TarAttributes& attributes) {
  return Add({'3', path, {}, {}, major, minor}, attributes);
}
TarBuilder& TarBuilder::BlockDevice(std::string_view path, int major, int minor, const TarAttributes& attributes) {
  return Add({'4', path, {}, {}, major, minor}, attributes);
}
TarBuilder& TarBuilder::Fifo(std::string_view path, const TarAttributes& attributes) {
  return Add({'6', path, {}, {}}, attributes);
}

TarBuilder& TarBuilder::Whiteout(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string folder(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
  const std::string base(slash == std::string_view::npos ? path : path.substr(slash + 1));
  return File(folder + ".wh." + base, "");
}

TarBuilder& TarBuilder::Opaque(std::string_view directory) {
  return File(std::string(directory) + "/.wh..wh..opq", "");
}

TarBuilder& TarBuilder::GnuLongNames() {
  gnu_ = true;
  return *this;
}

std::string TarBuilder::Finish(size_t padding) const { return bytes_ + std::string(2 * kBlock + padding, '\0'); }

std::string Gzip(std::string_view bytes, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib does not start");
  }
  std::string out;
  std::array<char, 64 << 10> piece;
  size_t consumed = 0;
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      const size_t take = std::min<size_t>(bytes.size() - consumed, 1 << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + consumed));
      stream.avail_in = static_cast<uInt>(take);
      consumed += take;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    result = deflate(&stream, consumed == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

std::string NoiseBytes(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; i += 8) {
    const uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, std::min<size_t>(8, size - i));
  }
  return bytes;
}

std::string ProseBytes(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes;
  bytes.reserve(size + 16);
  while (bytes.size() < size) {
    bytes += "word" + std::to_string(random() % 10'000);
    bytes += random() % 12 == 0 ? '\n' : ' ';
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace soci::test
