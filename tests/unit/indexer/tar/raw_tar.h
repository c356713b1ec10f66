// Tar headers by hand, sound or not: each field as the test wants it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace soci::tar {

struct RawHeader {
  std::string name = "f";
  int64_t size = 0;
  char type = '0';
  std::string link_name = {};
  std::string magic = std::string(
      "ustar\0"
      "00",
      8);
  std::string prefix = {};
  std::string uname = "root";
  std::map<size_t, std::string> raw = {};  // bytes put at an offset, last
  bool wrong_checksum = false;

  // One block.
  std::string Block() const;
};

std::string Octal(int64_t number, size_t width);
std::string Base256(int64_t number, size_t width);
// `bytes` and zeros up to a whole block.
std::string Padded(std::string_view bytes);
// A member with its data.
std::string Member(RawHeader header, std::string_view data);
// An extended header ('x', or 'g' for a global one).
std::string Pax(const std::vector<std::pair<std::string, std::string>>& records, char type = 'x');
// The two zero blocks.
std::string End();

inline const std::string kGnuMagic = std::string("ustar  \0", 8);

}  // namespace soci::tar
