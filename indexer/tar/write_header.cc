#include "indexer/tar/write_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace soci::tar {
namespace {

constexpr size_t kBlock = 512;
constexpr uint64_t kMostOctal = 0777'7777'7777;

void Put(ByteBuffer& block, size_t offset, std::string_view text) {
  const ByteSpan bytes = AsBytes(text);
  std::copy(bytes.begin(), bytes.end(), block.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace

ByteBuffer FileHeaderBlock(std::string_view name, uint64_t size) {
  ByteBuffer block(kBlock);
  Put(block, 0, name.substr(0, 100));
  Put(block, 100, "0000644");
  Put(block, 108, "0000000");
  Put(block, 116, "0000000");
  if (size <= kMostOctal) {
    Put(block, 124, fmt::format("{:011o}", size));
  } else {  // GNU's base-256: a mark, then big-endian
    block[124] = std::byte{0x80};
    for (size_t i = 0; i < sizeof(size); ++i) block[135 - i] = static_cast<std::byte>(size >> (8 * i));
  }
  Put(block, 136, "00000000000");
  Put(block, 148, "        ");
  Put(block, 156, "0");
  Put(block, 257, std::string_view("ustar\00000", 8));
  const unsigned sum = std::accumulate(block.begin(), block.end(), 0u, [](unsigned total, std::byte byte) {
    return total + static_cast<unsigned>(byte);
  });
  Put(block, 148, fmt::format("{:06o}", sum));
  Put(block, 154, std::string_view("\0 ", 2));
  return block;
}

}  // namespace soci::tar
