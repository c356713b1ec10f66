// A zTOC that claims the world is refused in little memory: less than 128 MiB, counted, not timed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "indexer/base/units.h"
#include "indexer/ztoc/layer_scanner.h"
#include "tests/allocations/allocation_meter.h"
#include "tests/gzip/gzip_maker.h"
#include "tests/gzip/scanned_gzip.h"
#include "tests/support/memory_use.h"
#include "tests/support/tar_builder.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci {
namespace {

using ::testing::HasSubstr;

constexpr size_t kMostMemory = 128_MiB;

std::string GoodBytes() {
  const std::string blob = test::GzipMember(test::TarBuilder()
                                                .File("a", "content", {.xattrs = {{"user.x", "y"}}})
                                                .HardLink("h", "a")
                                                .Directory("d")
                                                .Finish());
  test::TextStream stream(blob);
  return *EncodeZtoc(ScanLayer(stream, Compression::kGzip, {})->ztoc);
}

// Why the bytes are refused, "accepted" if they are not.
std::string Decode(const std::string& bytes) {
  const test::AllocationMeter meter;
  const Result<ZtocView> read = ViewZtoc(bytes);
  EXPECT_LT(meter.Peak(), kMostMemory);
  return read.ok() ? "accepted" : std::string(Message(read.status()));
}

TEST(HostileZtocMemory, IsReallyCounted) {
  if (!test::kMemoryIsOurs) GTEST_SKIP() << "sanitizers have operators of their own";
  const test::AllocationMeter meter;
  { const std::string large(1'000'000, 'x'); }
  EXPECT_GE(meter.Peak(), 1'000'000u);
  EXPECT_LT(meter.Peak(), 1'100'000u);
}

// The place of a text that occurs once.
size_t Find(const std::string& bytes, const std::string& text) {
  const size_t at = bytes.find(text);
  EXPECT_NE(at, std::string::npos);
  return at;
}

TEST(HostileZtocMemory, TwoToTheThirtyOneSpansAreRefused) {
  test::Ztoc plain;
  plain.compression = Compression::kUncompressed;
  plain.compressed_size = plain.uncompressed_size = uint64_t{1} << 31;
  plain.span_size = 1;
  EXPECT_THAT(Decode(*EncodeZtoc(plain)), HasSubstr("2147483648 spans, but 0 span digests"));
  // The same claim by the number of checkpoints, which stands in front of the span size of 4 MiB.
  std::string gzip = GoodBytes();
  const size_t count = Find(gzip, std::string("\1\0\0\0\0\0\x40\0\0\0\0\0", 12));
  gzip.replace(count, 4, "\xff\xff\xff\x7f");
  EXPECT_THAT(Decode(gzip), HasSubstr("2147483647 checkpoints in"));
}

TEST(HostileZtocMemory, CountsBeyondTheFileAreRefused) {
  std::string bytes = GoodBytes();
  const size_t digest = Find(bytes, "sha256:");
  bytes.replace(digest - 4, 4, "\xff\xff\xff\x7f");  // the text's length
  EXPECT_THAT(Decode(bytes), HasSubstr("not a FlatBuffer"));
}

// Lengths, offsets, places of tables and fields: each four bytes in turn become each number that could lead in a
// circle, outside, or into the depth. The window in the middle is left out.
TEST(HostileZtocMemory, WhateverAnyNumberSaysItIsRefusedOrReadInBounds) {
  const std::string good = GoodBytes();
  const size_t window = Find(good, std::string(kWindowSize, '\0'));
  size_t refused = 0;
  for (size_t at = 0; at + 4 <= good.size(); at += 4) {
    if (at >= window && at + 4 <= window + kWindowSize) continue;
    for (const uint32_t number : {0u, 1u, 4u, 0x7fu, 0x10000u, 0x7fffffffu, 0x80000000u, 0xfffffffcu, 0xffffffffu,
                                  static_cast<uint32_t>(good.size()), static_cast<uint32_t>(0u - at)}) {
      std::string damaged = good;
      std::memcpy(damaged.data() + at, &number, sizeof(number));
      refused += Decode(damaged) != "accepted";
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(HostileZtocMemory, WhateverIsCutOffItIsRefused) {
  const std::string good = GoodBytes();
  for (size_t size = 0; size < good.size(); size += size < 4000 || size + 4000 > good.size() ? 3 : 997) {
    EXPECT_NE(Decode(good.substr(0, size)), "accepted") << size;
  }
}

}  // namespace
}  // namespace soci
