#include "indexer/ztoc/block_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "indexer/ztoc/layer_hasher.h"
#include "tests/support/tar_builder.h"

namespace soci {
namespace {

TEST(BlockThreads, EachReaderGetsAllBytesInOrder) {
  const std::string bytes = test::NoiseBytes(5'000'000, 1);
  std::string one, two;
  BlockThreads threads({[&](ByteSpan piece) {
                          one += AsText(piece);
                          return OkStatus();
                        },
                        [&](ByteSpan piece) {
                          two += AsText(piece);
                          return OkStatus();
                        }});
  for (size_t at = 0; at < bytes.size(); at += 33'333) {
    EXPECT_EQ(threads.Push(AsBytes(bytes.substr(at, 33'333))), OkStatus());
    if (at == 33'333) {
      EXPECT_EQ(threads.Drain(), OkStatus());
      EXPECT_EQ(one.size(), 66'666u);
    }
  }
  EXPECT_EQ(threads.Drain(), OkStatus());
  EXPECT_TRUE(one == bytes);
  EXPECT_TRUE(two == bytes);
}

TEST(BlockThreads, AReaderThatRefusesEndsItForAll) {
  size_t pieces = 0;
  BlockThreads threads({[&](ByteSpan) {
                          ++pieces;
                          return absl::DataLossError("no tar");
                        },
                        [](ByteSpan) { return OkStatus(); }});
  const std::string bytes(1'000'000, 'x');
  Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = threads.Push(AsBytes(bytes));
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_TRUE(absl::IsDataLoss(threads.Drain()));
  EXPECT_EQ(pieces, 1u);
}

// So what is left to hash and to write when a layer's last byte is decoded is two megabytes, however large it is.
TEST(BlockThreads, NoReaderIsMoreThanAFewBlocksBehind) {
  constexpr uint64_t kMost = 2 << 20, kPiece = 100'000;
  std::atomic<uint64_t> pushed = 0;
  uint64_t read = 0, behind = 0;
  BlockThreads threads({[&](ByteSpan piece) {
    while (read == 0 && pushed < kMost - kPiece) std::this_thread::yield();  // as far behind as it may be
    behind = std::max(behind, pushed - read);
    read += piece.size();
    return OkStatus();
  }});
  const std::string bytes(kPiece, 'x');
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(threads.Push(AsBytes(bytes)), OkStatus());
    pushed += bytes.size();
  }
  ASSERT_EQ(threads.Drain(), OkStatus());
  EXPECT_EQ(read, pushed);
  EXPECT_LE(behind, kMost + (256 << 10)) << "and the block that is being filled";
}

TEST(BlockThreads, OneThatIsGivenUpEnds) {
  BlockThreads threads({[](ByteSpan) { return OkStatus(); }});
  EXPECT_EQ(threads.Push(AsBytes(std::string(700'000, 'x'))), OkStatus());
}

TEST(LayerHasher, SpansBeginAtTheirCheckpointsWhereverTheBlocksEnd) {
  const std::string bytes = test::NoiseBytes(1'000'000, 2);
  LayerHasher hasher;
  const auto push = [&](size_t begin, size_t end) {
    EXPECT_EQ(hasher.OnCompressed(AsBytes(bytes.substr(begin, end - begin))), OkStatus());
  };
  push(0, 10);  // a header: of no span
  hasher.OnCheckpoint({.compressed = 10, .uncompressed = 0, .bits = 0});
  push(10, 262'144);  // a block's end
  hasher.OnCheckpoint({.compressed = 262'144, .uncompressed = 1, .bits = 3});
  push(262'144, 600'000);
  hasher.OnCheckpoint({.compressed = 600'000, .uncompressed = 2, .bits = 0});
  push(600'000, bytes.size());
  const auto digests = hasher.Finish();
  ASSERT_TRUE(digests.ok());
  EXPECT_EQ(digests->layer, oci::LayerDigest(oci::Digest::Of(bytes)));
  EXPECT_EQ(digests->spans, (std::vector<oci::Digest>{oci::Digest::Of(bytes.substr(10, 262'134)),
                                                      oci::Digest::Of(bytes.substr(262'143, 337'857)),
                                                      oci::Digest::Of(bytes.substr(600'000))}));
}

}  // namespace
}  // namespace soci
