#include "indexer/codec/gzip_header.h"

#include <fmt/format.h>
#include <isa-l/crc.h>

#include <algorithm>
#include <optional>

namespace soci {
namespace {

constexpr size_t kFixedSize = 10;
constexpr size_t kMaxText = 512;  // with its NUL

enum Flag : uint8_t { kHeaderCrc = 2, kExtra = 4, kName = 8, kComment = 16, kReserved = 0xe0 };

uint32_t At(ByteSpan bytes, size_t i) { return std::to_integer<uint32_t>(bytes[i]); }
uint32_t Word(ByteSpan bytes, size_t i) { return At(bytes, i) | At(bytes, i + 1) << 8; }

bool IsGzip(ByteSpan bytes) { return At(bytes, 0) == 0x1f && At(bytes, 1) == 0x8b; }

// Method 8, a window of at most 32 KiB, and the check that makes the two bytes a multiple of 31.
bool IsZlib(ByteSpan bytes) {
  const uint32_t method = At(bytes, 0);
  return (method & 0xf) == 8 && method >> 4 <= 7 && (method << 8 | At(bytes, 1)) % 31 == 0;
}

Status Invalid(std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("gzip header invalid: {}", what));
}

// The end of the NUL-ended text at `begin`; nothing if it is not there yet.
Result<std::optional<size_t>> TextEnd(ByteSpan bytes, size_t begin) {
  const size_t limit = std::min(bytes.size(), begin + kMaxText);
  for (size_t i = begin; i < limit; ++i) {
    if (bytes[i] == std::byte{0}) return i + 1;
  }
  if (limit == begin + kMaxText) return Invalid("name or comment is too long");
  return std::nullopt;
}

Result<MemberHeader> ParseGzip(ByteSpan bytes) {
  const MemberHeader incomplete{MemberKind::kGzip, 0};
  if (bytes.size() < kFixedSize) return incomplete;
  const uint32_t flags = At(bytes, 3);
  if (At(bytes, 2) != 8) return Invalid("unknown compression method");
  if ((flags & kReserved) != 0) return Invalid("reserved flag set");
  size_t end = kFixedSize;
  if ((flags & kExtra) != 0) {
    if (bytes.size() < end + 2) return incomplete;
    end += 2 + Word(bytes, end);
    if (bytes.size() < end) return incomplete;
  }
  for (Flag text : {kName, kComment}) {
    if ((flags & text) == 0) continue;
    SOCI_ASSIGN_OR_RETURN(const std::optional<size_t> text_end, TextEnd(bytes, end));
    if (!text_end) return incomplete;
    end = *text_end;
  }
  if ((flags & kHeaderCrc) != 0) {
    if (bytes.size() < end + 2) return incomplete;
    const uint32_t crc = crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), end);
    if ((crc & 0xffff) != Word(bytes, end)) return Invalid("wrong header checksum");
    end += 2;
  }
  return MemberHeader{MemberKind::kGzip, end};
}

}  // namespace

bool LooksLikeMember(ByteSpan bytes) { return bytes.size() >= 2 && (IsGzip(bytes) || IsZlib(bytes)); }

Result<MemberHeader> ParseMemberHeader(ByteSpan bytes) {
  if (bytes.size() < 2) return MemberHeader{};
  if (IsGzip(bytes)) return ParseGzip(bytes);
  if (!IsZlib(bytes)) return absl::InvalidArgumentError("not a gzip stream");
  if ((At(bytes, 1) & 0x20) != 0) return Invalid("zlib stream with a preset dictionary");
  return MemberHeader{MemberKind::kZlib, 2};
}

}  // namespace soci
