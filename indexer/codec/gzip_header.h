// The header in front of each member of a gzip stream. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"

namespace soci {

// zlib streams may follow a gzip stream: zlib's own reader takes them for members, and so do tools built on it.
enum class MemberKind : uint8_t { kGzip, kZlib };

struct MemberHeader {
  MemberKind kind = MemberKind::kGzip;
  size_t size = 0;  // 0: `bytes` end before the header does
};

inline constexpr size_t MemberTrailerSize(MemberKind kind) { return kind == MemberKind::kGzip ? 8 : 4; }

// The longest header that is read: every field at its limit.
inline constexpr size_t kMaxMemberHeader = 10 + 2 + 65535 + 2 * 512 + 2;

// Reads the member header that `bytes` begin with. kInvalidArgument if it is none, or one with a reserved flag, a wrong
// header checksum, or a name or comment of more than 511 bytes (Go's reader refuses those).
Result<MemberHeader> ParseMemberHeader(ByteSpan bytes);

// Whether `bytes` (two at least) begin like a member.
bool LooksLikeMember(ByteSpan bytes);

}  // namespace soci
