#include "indexer/base/byte_stream.h"

#include <gtest/gtest.h>

#include "indexer/base/byte_source.h"
#include "indexer/base/units.h"

namespace soci {
namespace {

std::string Pattern(size_t size) {
  std::string bytes(size, 0);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + (i >> 8));
  return bytes;
}

TEST(SourceStream, DeliversAllBytesOfALocalSourceThroughASmallWindow) {
  const std::string bytes = Pattern(3_MiB + 17);
  auto source = MakeMemorySource(bytes);
  auto stream = MakeSourceStream(*source, {}, 64_KiB);
  std::string got;
  std::string piece(10000, 0);
  for (;;) {
    auto count = stream->Read(std::as_writable_bytes(std::span(piece)));
    ASSERT_TRUE(count.ok()) << count.status();
    if (*count == 0) break;
    got.append(piece, 0, *count);
  }
  EXPECT_EQ(got, bytes);
}

TEST(SourceStream, CanBeDroppedBeforeItsEnd) {
  auto source = MakeMemorySource(Pattern(8_MiB));
  auto stream = MakeSourceStream(*source, {}, 64_KiB);
  std::byte one[1];
  ASSERT_TRUE(stream->Read(one).ok());
}

TEST(ByteSource, ReadPastTheEndIsOutOfRange) {
  auto source = MakeMemorySource("abc");
  std::byte two[2];
  EXPECT_EQ(source->ReadAt(2, two, {}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(source->ReadAt(~uint64_t{0}, two, {}).code(), absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace soci
