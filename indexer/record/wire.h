// The wire form of Protocol Buffers, as far as a record needs it: numbers, byte strings, packed numbers. Written by
// hand because the rooms that read records do without that library; `protoc --decode_raw` reads what this writes.
//
// Values; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"

namespace soci {

class WireWriter {
 public:
  void Number(uint32_t field, uint64_t value);
  void Bytes(uint32_t field, std::string_view bytes);
  void Packed(uint32_t field, const std::vector<uint64_t>& values);  // nothing if there are none

  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

struct WireField {
  uint32_t number = 0;
  bool is_bytes = false;
  uint64_t value = 0;      // of a number
  std::string_view bytes;  // of the rest
};

class WireReader {
 public:
  // The bytes outlive the reader.
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  // The next field, or nothing at the end. kInvalidArgument for what is cut off, too large or of a kind we do not
  // write.
  Result<std::optional<WireField>> Next();

 private:
  std::string_view rest_;
};

// The numbers of a packed field. kInvalidArgument if one is cut off or too large, or if they are more than `most`.
Result<std::vector<uint64_t>> UnpackNumbers(std::string_view bytes, size_t most);

// Small differences of either sign as small numbers.
constexpr uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

}  // namespace soci
