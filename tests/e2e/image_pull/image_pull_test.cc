// Pulling into a real containerd, with a snapshotter that takes nothing lazily: every layer is downloaded and unpacked.
#include "snapshotter/daemon/image_pull.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/support/containerd.h"
#include "tests/e2e/support/sandbox.h"
#include "tests/unit/snapshotter/pull/indexed_image.h"

namespace soci {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ImagePull : public ::testing::Test {
 protected:
  Result<PulledImage> Pull(const oci::Reference& image, std::stop_token stop = {}, PullProgress progress = {}) {
    ContainerdChannel::Options options;
    options.address = containerd_.address();
    options.containerd_namespace = containerd_.name_space();
    options.stop = stop;
    SOCI_ASSIGN_OR_RETURN(auto channel, ContainerdChannel::Connect(options));
    return PullImage(registry_, *channel, image, {"overlayfs", stop}, progress);
  }
  std::string Ctr(std::vector<std::string> arguments) { return containerd_.Ctr(std::move(arguments)).out; }
  // A deleted lease does not start it by itself, unless it is told to.
  void CollectGarbage() {
    Ctr({"leases", "create", "--id", "collect"});
    Ctr({"leases", "delete", "--sync", "collect"});
  }

  test::Sandbox sandbox_;
  test::Containerd containerd_{sandbox_, sandbox_ / "soci.sock"};
  FakeRegistryClient registry_;
};

TEST_F(ImagePull, LayersThatAreNotTakenAreDownloadedAndUnpackedAndTheRecordComesLast) {
  const auto image = test::PushIndexedImage(registry_, {std::string(3 << 20, 'a'), "two"}, {}, false);
  auto pulled = Pull(image.reference);
  ASSERT_TRUE(pulled.ok()) << pulled.status();
  EXPECT_EQ(pulled->layers, (std::vector<LayerPulled>{LayerPulled::kUnpacked, LayerPulled::kUnpacked}));
  EXPECT_EQ(pulled->manifest, image.manifest);
  EXPECT_THAT(Ctr({"images", "ls", "-q"}), HasSubstr(image.reference.ToString()));
  EXPECT_THAT(Ctr({"images", "check"}), HasSubstr("complete"));
  EXPECT_THAT(Ctr({"leases", "ls", "-q"}), "");
  EXPECT_EQ(Ctr({"content", "get", image.layers[1].digest.ToString()}), image.blobs[1]);

  auto again = Pull(image.reference);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->layers, (std::vector<LayerPulled>{LayerPulled::kExisted, LayerPulled::kExisted}));
}

TEST_F(ImagePull, AfterRemovalOfTheImageContainerdCollectsEverything) {
  const auto image = test::PushIndexedImage(registry_, {"one", "two"}, {}, false);
  ASSERT_TRUE(Pull(image.reference).ok());
  containerd_.RemoveImage(image.reference.ToString());
  EXPECT_EQ(Ctr({"content", "ls", "-q"}), "");
  EXPECT_THAT(Ctr({"snapshots", "ls"}), Not(HasSubstr("sha256:")));
}

TEST_F(ImagePull, AManifestForOtherPlatformsOnlyIsNotFoundNamingOurs) {
  const auto image = test::PushIndexedImage(registry_, {"one"}, {}, false);
  oci::ImageIndex index;
  index.media_type = std::string(oci::kMediaTypeImageIndex);
  oci::Descriptor entry;
  entry.media_type = std::string(oci::kMediaTypeManifest);
  entry.digest = image.manifest;
  entry.size = 1;
  entry.platform = oci::Platform{.architecture = "s390x", .os = "linux"};
  index.manifests.push_back(entry);
  registry_.AddManifest(image.reference, "many", oci::kMediaTypeImageIndex, index.ToJson());
  auto pulled = Pull(oci::Reference::Parse("registry.example/ai/train:many").value());
  EXPECT_TRUE(absl::IsNotFound(pulled.status()));
  EXPECT_THAT(pulled.status().ToString(), HasSubstr("linux/"));
}

TEST_F(ImagePull, AFailedDownloadLeavesNoRecordNoLeaseAndNothingThatIsNotCollected) {
  const auto image = test::PushIndexedImage(registry_, {"one", "two"}, {}, false);
  registry_.fail = [&](const std::string& request) {
    return request == "OPEN blobs " + image.layers[1].digest.ToString() ? absl::UnavailableError("reset") : OkStatus();
  };
  auto pulled = Pull(image.reference);
  EXPECT_TRUE(absl::IsUnavailable(pulled.status()));
  EXPECT_THAT(pulled.status().ToString(), HasSubstr(image.layers[1].digest.ToString()));
  EXPECT_EQ(Ctr({"images", "ls", "-q"}), "");
  EXPECT_EQ(Ctr({"leases", "ls", "-q"}), "");
  CollectGarbage();
  EXPECT_EQ(Ctr({"content", "ls", "-q"}), "");
}

TEST_F(ImagePull, BytesThatAreNotTheLayersAreRefused) {
  const auto image = test::PushIndexedImage(registry_, {"one"}, {}, false);
  std::string other = image.blobs[0];
  other[20] ^= 1;
  ASSERT_TRUE(registry_.PushBlob(image.reference, image.layers[0], other).ok());
  auto pulled = Pull(image.reference);
  EXPECT_TRUE(absl::IsDataLoss(pulled.status())) << pulled.status();
  EXPECT_EQ(Ctr({"images", "ls", "-q"}), "");
}

TEST_F(ImagePull, AStopInTheMiddleLeavesNoRecordAndNoLease) {
  const auto image = test::PushIndexedImage(registry_, {"one", "two"}, {}, false);
  std::stop_source stop;
  PullProgress progress;
  progress.layer_done = [&](size_t, LayerPulled) { stop.request_stop(); };
  auto pulled = Pull(image.reference, stop.get_token(), progress);
  EXPECT_TRUE(absl::IsCancelled(pulled.status())) << pulled.status();
  EXPECT_EQ(Ctr({"images", "ls", "-q"}), "");
  EXPECT_EQ(Ctr({"leases", "ls", "-q"}), "");
}

TEST_F(ImagePull, NoContainerdIsUnavailableNamingTheAddress) {
  ContainerdChannel::Options options;
  options.address = sandbox_ / "nobody.sock";
  auto channel = ContainerdChannel::Connect(options);
  EXPECT_TRUE(absl::IsUnavailable(channel.status()));
  EXPECT_THAT(channel.status().ToString(), HasSubstr("nobody.sock"));
}

}  // namespace
}  // namespace soci
