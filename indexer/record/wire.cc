#include "indexer/record/wire.h"

namespace soci {
namespace {

constexpr uint64_t kVarint = 0;
constexpr uint64_t kLengthDelimited = 2;
constexpr int kLongestVarint = 10;

void Append(std::string& out, uint64_t value) {
  while (value > 0x7f) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

Result<uint64_t> TakeVarint(std::string_view& rest) {
  uint64_t value = 0;
  for (int i = 0; i < kLongestVarint && !rest.empty(); ++i) {
    const auto byte = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    if (i == kLongestVarint - 1 && byte > 1) break;
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) return value;
  }
  return absl::InvalidArgumentError("a number that is cut off or too large");
}

}  // namespace

void WireWriter::Number(uint32_t field, uint64_t value) {
  Append(out_, (uint64_t{field} << 3) | kVarint);
  Append(out_, value);
}

void WireWriter::Bytes(uint32_t field, std::string_view bytes) {
  Append(out_, (uint64_t{field} << 3) | kLengthDelimited);
  Append(out_, bytes.size());
  out_.append(bytes);
}

void WireWriter::Packed(uint32_t field, const std::vector<uint64_t>& values) {
  if (values.empty()) return;
  std::string packed;
  for (const uint64_t value : values) Append(packed, value);
  Bytes(field, packed);
}

Result<std::optional<WireField>> WireReader::Next() {
  if (rest_.empty()) return std::nullopt;
  SOCI_ASSIGN_OR_RETURN(const uint64_t key, TakeVarint(rest_));
  WireField field;
  if ((key >> 3) == 0 || (key >> 3) > 0xffff) return absl::InvalidArgumentError("a field number that makes no sense");
  field.number = static_cast<uint32_t>(key >> 3);
  SOCI_ASSIGN_OR_RETURN(field.value, TakeVarint(rest_));
  if ((key & 7) == kVarint) return field;
  if ((key & 7) != kLengthDelimited) return absl::InvalidArgumentError("a field of a kind that is never written");
  if (field.value > rest_.size()) return absl::InvalidArgumentError("a field that is cut off");
  field.is_bytes = true;
  field.bytes = rest_.substr(0, field.value);
  rest_.remove_prefix(field.value);
  return field;
}

Result<std::vector<uint64_t>> UnpackNumbers(std::string_view bytes, size_t most) {
  std::vector<uint64_t> values;
  while (!bytes.empty()) {
    if (values.size() == most) return absl::InvalidArgumentError("too many numbers");
    SOCI_ASSIGN_OR_RETURN(const uint64_t value, TakeVarint(bytes));
    values.push_back(value);
  }
  return values;
}

}  // namespace soci
