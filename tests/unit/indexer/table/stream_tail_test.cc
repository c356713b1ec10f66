#include "indexer/table/stream_tail.h"

#include <gtest/gtest.h>

#include "tests/layers/tar_writer.h"
#include "tests/layers/test_layer.h"

namespace soci {
namespace {

using test::MakeTestLayer;
using test::Noise;
using test::TarWriter;
using test::TestLayer;

Result<std::string> TailOf(const TestLayer& layer) {
  const auto source = MakeMemorySource(layer.blob);
  std::string tail;
  SOCI_RETURN_IF_ERROR(ReadStreamTail(*layer.table, *source, {}, [&](ByteSpan bytes) {
    tail += AsText(bytes);
    return OkStatus();
  }));
  return tail;
}

TEST(StreamTail, IsWhatFollowsTheArchive) {
  for (const std::string& after : {std::string(), std::string(7680, '\0'), Noise(100'000, 5)}) {
    for (const uint64_t block : {uint64_t{0}, uint64_t{2048}}) {
      const std::string tar = TarWriter().File("f", Noise(30'000, 1)).Finish() + after;
      const TestLayer layer = MakeTestLayer(tar, {.block_size = block});
      const auto tail = TailOf(layer);
      ASSERT_TRUE(tail.ok()) << tail.status();
      EXPECT_TRUE(*tail == tar.substr(layer.table->uncompressed_size()));
    }
  }
}

TEST(StreamTail, OfAPlainTarThereIsNone) {
  const std::string tar = TarWriter().File("f", "1").Finish(7680);
  EXPECT_EQ(*TailOf(MakeTestLayer(tar, {.compression = Compression::kUncompressed})), "");
}

TEST(StreamTail, DamageIsDataLoss) {
  TestLayer layer = MakeTestLayer(TarWriter().File("f", Noise(30'000, 1)).Finish(7680));
  const size_t begin = layer.table->Extent(SpanId{layer.table->span_count() - 1}).compressed.begin;
  layer.blob.replace(begin, std::string::npos, std::string(layer.blob.size() - begin, '\xff'));
  EXPECT_TRUE(absl::IsDataLoss(TailOf(layer).status()));
  layer.blob.pop_back();
  EXPECT_TRUE(absl::IsDataLoss(TailOf(layer).status()));
}

}  // namespace
}  // namespace soci
