// The reader of member headers: what it takes is never longer than the bytes, and the same when more bytes follow.
#include "indexer/codec/gzip_header.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const soci::ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  if (size >= 2) static_cast<void>(soci::LooksLikeMember(bytes));
  const auto header = soci::ParseMemberHeader(bytes);
  if (!header.ok() || header->size == 0) return 0;
  if (header->size > std::min(size, soci::kMaxMemberHeader)) abort();
  const auto alone = soci::ParseMemberHeader(bytes.first(header->size));
  if (!alone.ok() || alone->size != header->size || alone->kind != header->kind) abort();
  return 0;
}
