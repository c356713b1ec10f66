#include "tests/unit/indexer/tar/raw_tar.h"

#include <fmt/format.h>

namespace soci::tar {

std::string Octal(int64_t number, size_t width) { return fmt::format("{:0{}o}", number, width - 1) + '\0'; }

std::string Base256(int64_t number, size_t width) {
  std::string out(width, number < 0 ? '\xff' : '\0');
  for (size_t i = 0; i < 8 && i < width; ++i) out[width - 1 - i] = static_cast<char>(number >> (8 * i));
  out[0] = static_cast<char>(out[0] | 0x80);
  return out;
}

std::string Padded(std::string_view bytes) {
  std::string out(bytes);
  out.resize((out.size() + 511) / 512 * 512);
  return out;
}

std::string RawHeader::Block() const {
  std::string block(512, '\0');
  const auto put = [&block](size_t at, std::string_view bytes) { block.replace(at, bytes.size(), bytes); };
  put(0, name);
  put(100, Octal(0644, 8));
  put(108, Octal(0, 8));
  put(116, Octal(0, 8));
  put(124, size < int64_t{1} << 33 && size >= 0 ? Octal(size, 12) : Base256(size, 12));
  put(136, Octal(1'700'000'000, 12));
  block[156] = type;
  put(157, link_name);
  if (!magic.empty()) {
    put(257, magic);
    put(265, uname);
    put(297, "root");
    put(345, prefix);
  }
  for (const auto& [at, bytes] : raw) put(at, bytes);
  put(148, "        ");
  int64_t sum = wrong_checksum ? 7 : 0;
  for (char byte : block) sum += static_cast<uint8_t>(byte);
  put(148, fmt::format("{:06o}", sum) + '\0');
  return block;
}

std::string Member(RawHeader header, std::string_view data) {
  if (header.size == 0) header.size = static_cast<int64_t>(data.size());
  return header.Block() + Padded(data);
}

std::string Pax(const std::vector<std::pair<std::string, std::string>>& records, char type) {
  std::string data;
  for (const auto& [key, value] : records) {
    size_t length = key.size() + value.size() + 3;
    while (fmt::format("{}", length).size() + key.size() + value.size() + 3 != length) ++length;
    data += fmt::format("{} {}={}\n", length, key, value);
  }
  return Member({.name = "PaxHeaders/x", .type = type}, data);
}

std::string End() { return std::string(1024, '\0'); }

}  // namespace soci::tar
