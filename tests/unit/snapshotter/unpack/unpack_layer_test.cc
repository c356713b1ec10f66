#include "snapshotter/unpack/unpack_layer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zstd.h>

#include "indexer/base/byte_source.h"
#include "indexer/base/file_io.h"
#include "indexer/table/layer_table.h"
#include "indexer/ztoc/ztoc.h"
#include "snapshotter/unpack/ordered_download.h"
#include "snapshotter/unpack/unsynced_mark.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci {
namespace {

using test::Gzip;
using test::NoiseBytes;
using test::TarBuilder;

bool Exists(const std::string& path) {
  struct stat attributes {};
  return ::lstat(path.c_str(), &attributes) == 0;
}

class UnpackLayerTest : public ::testing::Test {
 protected:
  Result<UnpackedLayer> Unpack(const std::string& blob, const std::string& tar, bool lowest = true) {
    LayerToUnpack wanted{oci::LayerDigest(oci::Digest::Of(blob)), oci::DiffId(oci::Digest::Of(tar)), lowest};
    return Unpack(blob, wanted);
  }
  Result<UnpackedLayer> Unpack(const std::string& blob, const LayerToUnpack& wanted) {
    EXPECT_EQ(MakeDirectories(layer_), OkStatus());
    FetchContext context;
    context.stop = stop_.get_token();
    return UnpackLayer(*MakeMemorySource(blob), wanted, layer_, window_, context);
  }

  test::TemporaryDirectory folder_;
  const std::string layer_ = folder_ / "layer";
  DownloadWindow window_{{.connections = 2, .range = 10'000, .ranges = 3}};
  std::stop_source stop_;
  const std::string content_ = NoiseBytes(300'000, 1);
  const std::string tar_ = TarBuilder().Directory("d").File("d/big", content_).File("d/none", "").Finish(4096);
};

TEST_F(UnpackLayerTest, AGzipLayerBecomesADirectoryWithItsTableAndItsZtocBesideIt) {
  const std::string blob = Gzip(tar_);
  const auto unpacked = Unpack(blob, tar_);
  ASSERT_TRUE(unpacked.ok()) << unpacked.status();
  EXPECT_EQ(ReadFile(layer_ + "/fs/d/big").value(), content_);
  EXPECT_EQ(ReadFile(layer_ + "/fs/d/none").value(), "");
  EXPECT_TRUE(LayerTable::Open(layer_ + "/table", oci::LayerDigest(oci::Digest::Of(blob))).ok());
  const std::string ztoc = ReadFile(layer_ + "/ztoc").value();
  EXPECT_EQ(oci::Digest::Of(ztoc), unpacked->ztoc);
  EXPECT_EQ(test::DecodeZtoc(ztoc).value().compressed_size, blob.size());
  for (const char* left : {"/data", "/residue", "/presence", "/fs.partial"}) EXPECT_FALSE(Exists(layer_ + left));
}

TEST_F(UnpackLayerTest, APlainTarIsUnpackedToo) {
  ASSERT_TRUE(Unpack(tar_, tar_).ok());
  EXPECT_EQ(ReadFile(layer_ + "/fs/d/big").value(), content_);
}

TEST_F(UnpackLayerTest, AZstdLayerIsUnpackedButHasNoZtoc) {
  std::string blob(ZSTD_compressBound(tar_.size()), '\0');
  blob.resize(ZSTD_compress(blob.data(), blob.size(), tar_.data(), tar_.size(), 3));
  const auto unpacked = Unpack(blob, tar_);
  ASSERT_TRUE(unpacked.ok()) << unpacked.status();
  EXPECT_TRUE(unpacked->ztoc.empty());
  EXPECT_FALSE(Exists(layer_ + "/ztoc"));
  EXPECT_EQ(ReadFile(layer_ + "/fs/d/big").value(), content_);
}

TEST_F(UnpackLayerTest, BytesThatAreNotTheLayerNeverBecomeADirectory) {
  const std::string blob = Gzip(tar_);
  const oci::LayerDigest layer(oci::Digest::Of(blob));
  const oci::DiffId diff_id(oci::Digest::Of(tar_));
  const oci::Digest other = oci::Digest::Of("other");
  EXPECT_TRUE(absl::IsDataLoss(Unpack(blob, {oci::LayerDigest(other), diff_id, true}).status()));
  EXPECT_TRUE(absl::IsDataLoss(Unpack(blob, {layer, oci::DiffId(other), true}).status()));
  EXPECT_FALSE(Unpack(blob.substr(0, blob.size() / 2), {layer, diff_id, true}).ok());
  EXPECT_FALSE(Exists(layer_ + "/fs"));
}

TEST_F(UnpackLayerTest, AFolderThatOnlyALayerBelowDescribesIsLeftToContainerd) {
  const std::string tar = TarBuilder().File("tmp/x", "1").Finish();
  EXPECT_TRUE(absl::IsUnimplemented(Unpack(tar, tar, false).status()));
  const std::string whole = TarBuilder().Directory("tmp").Symlink("t", "tmp").File("t/x", "1").Finish();
  EXPECT_TRUE(Unpack(whole, whole, false).ok());
}

TEST_F(UnpackLayerTest, AStoppedUnpackIsCancelled) {
  stop_.request_stop();
  EXPECT_TRUE(absl::IsCancelled(Unpack(Gzip(tar_), tar_).status()));
}

TEST_F(UnpackLayerTest, TheFolderIsMarkedUntilItIsOnTheDiskAndWorthNothingAfterAnotherBoot) {
  ASSERT_TRUE(Unpack(tar_, tar_).ok());
  EXPECT_EQ(ReadUnsyncedMark(layer_), UnsyncedMark::kOfThisBoot);
  BootId other = ThisBoot();
  other[0] ^= std::byte{1};
  EXPECT_EQ(ReadUnsyncedMark(layer_, other), UnsyncedMark::kOfAnotherBoot);
  ASSERT_EQ(UnmarkSynced(layer_), OkStatus());
  EXPECT_EQ(ReadUnsyncedMark(layer_), UnsyncedMark::kNone);
}

}  // namespace
}  // namespace soci
