#include "snapshotter/pull/image_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "indexer/base/file_io.h"
#include "indexer/table/layer_table.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/temporary_directory.h"
#include "tests/unit/snapshotter/pull/indexed_image.h"

namespace soci {
namespace {

using test::IndexedImage;
using test::PushIndexedImage;
using ::testing::HasSubstr;

bool Exists(const std::string& path) {
  struct stat attributes {};
  return ::stat(path.c_str(), &attributes) == 0;
}

bool Nothing(const oci::LayerDigest&) { return false; }

class ImageSessionsTest : public ::testing::Test {
 protected:
  size_t Count(std::string_view request) const {
    const auto requests = registry_.requests();
    return static_cast<size_t>(std::count_if(requests.begin(), requests.end(), [&](const std::string& one) {
      return one.find(request) != std::string::npos;
    }));
  }
  std::string Folder(const IndexedImage& image, size_t layer) const {
    return folders_.paths().LayerFolder(oci::LayerDigest(image.layers[layer].digest));
  }
  const PreparedLayer& Layer(const PreparedImage& prepared, const IndexedImage& image, size_t layer) const {
    return prepared.layers.at(oci::LayerDigest(image.layers[layer].digest));
  }

  test::TemporaryDirectory folder_;
  FakeRegistryClient registry_;
  FakeClock clock_;
  LayerFolders folders_{{folder_ / "state", folder_ / "run"}};
  ImageSessions sessions_{registry_, folders_, clock_, {}};
};

TEST_F(ImageSessionsTest, EveryIndexedLayerGetsATableAndAnOrigin) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"});
  auto prepared = sessions_.Get(image.Request(0));
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  for (size_t i = 0; i < 2; ++i) {
    const PreparedLayer& layer = Layer(**prepared, image, i);
    ASSERT_TRUE(layer.origin.has_value()) << layer.reason;
    EXPECT_EQ(layer.origin->diff_id, image.diff_ids[i]);
    EXPECT_EQ(layer.origin->layer_size, static_cast<uint64_t>(image.layers[i].size));
    EXPECT_TRUE(LayerTable::Open(Folder(image, i) + "/table", oci::LayerDigest(image.layers[i].digest)).status().ok());
  }
}

TEST_F(ImageSessionsTest, SeveralPreparesOfOneImageCauseOneSearch) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two", "three"});
  std::vector<std::thread> askers;
  for (size_t i = 0; i < 12; ++i) {
    askers.emplace_back([&, i] { EXPECT_TRUE(sessions_.Get(image.Request(i % 3)).ok()); });
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(Count("referrers"), 1u);
  for (const oci::Descriptor& ztoc : image.ztocs) EXPECT_EQ(Count("GET blobs " + ztoc.digest.ToString()), 1u);
}

// B19: however late the registry's first answer comes, the first pull finds everything.
TEST_F(ImageSessionsTest, B19_FiftyFirstPullsAreAllLazy) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two", "three"});
  for (int round = 0; round < 50; ++round) {
    test::TemporaryDirectory fresh;
    LayerFolders folders{{fresh / "state", fresh / "run"}};
    ImageSessions sessions(registry_, folders, clock_, {});
    std::atomic<int> asking = 0;
    std::atomic<bool> answered = false;
    // The first answer waits until the Prepare of every layer is on its way.
    registry_.fail = [&](const std::string&) {
      while (!answered && asking < 3) std::this_thread::yield();
      answered = true;
      return OkStatus();
    };
    std::vector<std::thread> prepares;
    for (size_t layer = 0; layer < 3; ++layer) {
      prepares.emplace_back([&, layer] {
        ++asking;
        auto prepared = sessions.Get(image.Request(layer));
        ASSERT_TRUE(prepared.ok()) << prepared.status();
        EXPECT_TRUE(Layer(**prepared, image, layer).origin.has_value()) << Layer(**prepared, image, layer).reason;
      });
    }
    for (std::thread& prepare : prepares) prepare.join();
    registry_.fail = {};
  }
}

TEST_F(ImageSessionsTest, NoIndexIsRememberedForTheConfiguredTimeOnly) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"}, {}, false);
  auto prepared = sessions_.Get(image.Request(0));
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_FALSE((*prepared)->soci_index.has_value());
  EXPECT_THAT((*prepared)->reason, HasSubstr("no SOCI index"));
  ASSERT_TRUE(sessions_.Get(image.Request(0)).ok());
  EXPECT_EQ(Count("referrers"), 1u);
  clock_.Advance(std::chrono::seconds(60));
  PushIndexedImage(registry_, {"one"});
  prepared = sessions_.Get(image.Request(0));
  ASSERT_TRUE(prepared.ok());
  EXPECT_TRUE((*prepared)->soci_index.has_value());
}

TEST_F(ImageSessionsTest, AFailedZtocAffectsOnlyItsLayerAndIsTriedAgainLater) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"});
  registry_.fail = [&](const std::string& request) {
    const bool hit = request.find(image.ztocs[1].digest.ToString()) != std::string::npos;
    return hit ? absl::UnavailableError("connection reset") : OkStatus();
  };
  auto prepared = sessions_.Get(image.Request(0));
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_TRUE(Layer(**prepared, image, 0).origin.has_value());
  EXPECT_FALSE(Layer(**prepared, image, 1).origin.has_value());
  EXPECT_THAT(Layer(**prepared, image, 1).reason, HasSubstr("connection reset"));
  EXPECT_FALSE(Exists(Folder(image, 1)));

  registry_.fail = {};
  clock_.Advance(std::chrono::seconds(60));
  prepared = sessions_.Get(image.Request(1));
  ASSERT_TRUE(prepared.ok());
  EXPECT_TRUE(Layer(**prepared, image, 1).origin.has_value());
  EXPECT_EQ(Count("GET blobs " + image.ztocs[0].digest.ToString()), 1u) << "a table that is there costs nothing";
}

TEST_F(ImageSessionsTest, ALayerWithoutZtocSaysSo) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"}, {1});
  auto prepared = sessions_.Get(image.Request(0));
  ASSERT_TRUE(prepared.ok());
  EXPECT_FALSE(Layer(**prepared, image, 1).has_ztoc);
  EXPECT_THAT(Layer(**prepared, image, 1).reason, HasSubstr("has no zTOC"));
}

TEST_F(ImageSessionsTest, AZtocOfAnotherLayerIsRefused) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", std::string(100, 'x') + "two"}, {}, false);
  IndexContents swapped;
  swapped.span_size = 64 << 10;
  swapped.build_tool = std::string(oci::kBuildTool);
  swapped.ztocs = {{image.layers[0], image.ztocs[1], false}};
  oci::Descriptor subject;
  subject.media_type = std::string(oci::kMediaTypeManifest);
  subject.digest = image.manifest;
  const std::string json = MakeSociIndexV1(swapped, subject).ToJson();
  registry_.AddManifest(image.reference, oci::Digest::Of(json).ToString(), oci::kMediaTypeManifest, json);
  auto prepared = sessions_.Get(image.Request(0));
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_FALSE(Layer(**prepared, image, 0).origin.has_value());
  EXPECT_THAT(Layer(**prepared, image, 0).reason, HasSubstr("is about a layer of"));
}

TEST_F(ImageSessionsTest, AFailureIsAnErrorThatIsForgottenAfterTheConfiguredTime) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"});
  registry_.fail = [](const std::string&) { return absl::UnavailableError("no route"); };
  EXPECT_FALSE(sessions_.Get(image.Request(0)).ok());
  registry_.fail = {};
  EXPECT_FALSE(sessions_.Get(image.Request(0)).ok());
  clock_.Advance(std::chrono::seconds(60));
  EXPECT_TRUE(sessions_.Get(image.Request(0)).ok());
}

// B6: a copy without the index that was attached to the original.
TEST_F(ImageSessionsTest, B6_AnImageWithoutItsIndexSaysOnceWhyItIsNotLazy) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two", "three"}, {}, false);
  ::testing::internal::CaptureStderr();
  for (size_t layer : {0, 1, 2, 0}) ASSERT_TRUE(sessions_.Get(image.Request(layer)).ok());
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr(" info image " + image.reference.ToString() + " is not lazy: no SOCI index for " +
                             image.manifest.ToString()));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_EQ(sessions_.counts().no_index, 1u);
}

// B7
TEST_F(ImageSessionsTest, B7_WhereDiscoveryIsOffOneWarningNamesTheSettingAndItIsCounted) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"});  // its index is a referrer
  ImageSessions::Options options;
  options.referrers = false;
  ImageSessions bound(registry_, folders_, clock_, options);
  ::testing::internal::CaptureStderr();
  for (size_t layer : {0, 1}) ASSERT_TRUE(bound.Get(image.Request(layer)).ok());
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr(" warning image " + image.reference.ToString() + " is not lazy: "));
  EXPECT_THAT(log, HasSubstr("index.referrers"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_EQ(bound.counts().not_looked_for, 1u);
  EXPECT_EQ(bound.counts().found, 0u);
}

TEST_F(ImageSessionsTest, WithTrustBoundAReferrerCountsAsNoIndex) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"});
  ImageSessions::Options options;
  options.bound_only = true;
  ImageSessions bound(registry_, folders_, clock_, options);
  auto prepared = bound.Get(image.Request(0));
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_FALSE((*prepared)->soci_index.has_value());
}

TEST_F(ImageSessionsTest, WithReferrersOffTheRegistryIsNotAskedForThemButANamedIndexCounts) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"});
  ImageSessions::Options options;
  options.referrers = false;
  ImageSessions sessions(registry_, folders_, clock_, options);
  auto prepared = sessions.Get(image.Request(0));
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ((*prepared)->reason, "the image names no SOCI index (index.referrers is off)");
  LayerRequest named = image.Request(0);
  named.soci_index = (*sessions_.Get(image.Request(0)))->soci_index;
  prepared = sessions.Get(named);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ((*prepared)->soci_index, named.soci_index);
}

TEST_F(ImageSessionsTest, FoldersGoWhenTheImageIsForgottenUnlessAnotherImageSharesThem) {
  const IndexedImage first = PushIndexedImage(registry_, {"shared", "one"});
  const IndexedImage second = PushIndexedImage(registry_, {"shared", "two"}, {}, true, "registry.example/ai/train:v2");
  ASSERT_TRUE(sessions_.Get(first.Request(0)).ok());
  ASSERT_TRUE(sessions_.Get(second.Request(0)).ok());
  sessions_.Forget(oci::LayerDigest(first.layers[1].digest));
  EXPECT_FALSE(Exists(Folder(first, 1)));
  EXPECT_TRUE(Exists(Folder(first, 0)));
  EXPECT_TRUE(Exists(Folder(second, 1)));
  sessions_.Forget(oci::LayerDigest(second.layers[0].digest));
  EXPECT_FALSE(Exists(Folder(first, 0)));
}

TEST_F(ImageSessionsTest, AnImageWhosePullWasGivenUpIsForgottenWhenIdle) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"});
  ASSERT_TRUE(sessions_.Get(image.Request(0)).ok());
  sessions_.ForgetIdle(std::chrono::minutes(10), Nothing);
  EXPECT_TRUE(Exists(Folder(image, 0)));
  clock_.Advance(std::chrono::minutes(11));
  sessions_.ForgetIdle(std::chrono::minutes(10), Nothing);
  EXPECT_FALSE(Exists(Folder(image, 0)));
}

TEST_F(ImageSessionsTest, ADamagedTableIsMadeAgainFromTheZtocBesideItWithoutNetwork) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"});
  ASSERT_TRUE(sessions_.Get(image.Request(0)).ok());
  ASSERT_TRUE(WriteFileAtomic(Folder(image, 0) + "/table", "damaged").ok());
  ImageSessions restarted(registry_, folders_, clock_, {});
  auto prepared = restarted.Get(image.Request(0));
  ASSERT_TRUE(prepared.ok());
  EXPECT_TRUE(Layer(**prepared, image, 0).origin.has_value());
  EXPECT_EQ(Count("GET blobs " + image.ztocs[0].digest.ToString()), 1u);
}

TEST_F(ImageSessionsTest, AnImageDoesNotUseALayerThatIsHereByTheIndexOfAnother) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"});
  ASSERT_TRUE(sessions_.Get(image.Request(0)).ok());
  LayerOrigin others = ReadOrigin(Folder(image, 0)).value();
  others.ztoc = oci::Digest::Of("another index's zTOC");
  ASSERT_TRUE(WriteOrigin(Folder(image, 0), others).ok());
  ImageSessions later(registry_, folders_, clock_, {});
  auto prepared = later.Get(image.Request(0));
  ASSERT_TRUE(prepared.ok());
  EXPECT_FALSE(Layer(**prepared, image, 0).origin.has_value());
  EXPECT_THAT(Layer(**prepared, image, 0).reason, HasSubstr(others.ztoc.ToString()));
}

}  // namespace
}  // namespace soci
