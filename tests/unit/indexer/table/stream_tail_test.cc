#include "indexer/table/stream_tail.h"

#include <gtest/gtest.h>

#include "tests/layers/indexed_layer.h"
#include "tests/support/tar_builder.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::TarBuilder;

Result<std::string> TailOf(const IndexedLayer& layer) {
  const auto source = MakeMemorySource(layer.blob);
  std::string tail;
  SOCI_RETURN_IF_ERROR(ReadStreamTail(*layer.table, *source, {}, [&](ByteSpan bytes) {
    tail += AsText(bytes);
    return OkStatus();
  }));
  return tail;
}

TEST(StreamTail, IsWhatFollowsTheArchive) {
  for (const std::string& after : {std::string(), std::string(7680, '\0'), NoiseBytes(100'000, 5)}) {
    for (const uint64_t block : {uint64_t{0}, uint64_t{2048}}) {
      const std::string tar = TarBuilder().File("f", NoiseBytes(30'000, 1)).Finish() + after;
      const IndexedLayer layer = MakeIndexedLayer(tar, {.block_size = block});
      const auto tail = TailOf(layer);
      ASSERT_TRUE(tail.ok()) << tail.status();
      EXPECT_TRUE(*tail == tar.substr(layer.table->uncompressed_size()));
    }
  }
}

TEST(StreamTail, OfAPlainTarThereIsNone) {
  const std::string tar = TarBuilder().File("f", "1").Finish(7680);
  EXPECT_EQ(*TailOf(MakeIndexedLayer(tar, {.compression = Compression::kUncompressed})), "");
}

TEST(StreamTail, DamageIsDataLoss) {
  IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("f", NoiseBytes(30'000, 1)).Finish(7680));
  const size_t begin = layer.table->Extent(SpanId{layer.table->span_count() - 1}).compressed.begin;
  layer.blob.replace(begin, std::string::npos, std::string(layer.blob.size() - begin, '\xff'));
  EXPECT_TRUE(absl::IsDataLoss(TailOf(layer).status()));
  layer.blob.pop_back();
  EXPECT_TRUE(absl::IsDataLoss(TailOf(layer).status()));
}

}  // namespace
}  // namespace soci
