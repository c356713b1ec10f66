// Indexing from registries that behave as real ones do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/index/image_indexer.h"
#include "indexer/index/registry_home.h"
#include "indexer/index/select_platforms.h"
#include "indexer/net/http_transport.h"
#include "indexer/registry/distribution_client.h"
#include "tests/fakes/scripted_registry.h"
#include "tests/support/tar_builder.h"

namespace soci::test {
namespace {

constexpr char kRepo[] = "team/image";

class Silent : public LayerProgress {
  void OnStart(const oci::Descriptor&) override {}
  void OnBytes(const oci::Descriptor&, uint64_t) override {}
  void OnEnd(const oci::Descriptor&, LayerOutcome, const std::string&) override {}
};

class Indexing : public testing::Test {
 protected:
  oci::Descriptor AddImage(const std::string& layer, const std::string& diff_id) {
    const std::string config =
        R"({"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[")" + diff_id + R"("]}})";
    oci::Manifest manifest{.media_type = std::string(oci::kMediaTypeManifest),
                           .config = registry.AddBlob(kRepo, config),
                           .layers = {registry.AddBlob(kRepo, layer)}};
    manifest.config.media_type = oci::kMediaTypeImageConfig;
    manifest.layers[0].media_type = oci::kMediaTypeLayerGzip;
    return registry.AddManifest(kRepo, "latest", oci::kMediaTypeManifest, manifest.ToJson());
  }

  Result<ImageReport> Index() {
    auto home = MakeRegistryHome(*client, registry.Reference(kRepo));
    SOCI_ASSIGN_OR_RETURN(SelectedImages selected, SelectPlatforms(*home, {}, {}));
    ImageIndexer indexer(*home, {.span_size = 256 << 10, .min_layer_size = 0}, silent);
    return indexer.Index(selected.images.at(0), {});
  }

  ScriptedRegistry registry{{.redirect_blobs = true}};
  std::unique_ptr<HttpTransport> transport = MakeCurlTransport();
  std::unique_ptr<CredentialProvider> credentials = MakeAnonymousCredentials();
  std::unique_ptr<RegistryClient> client = MakeRegistryClient(*transport, *credentials);
  Silent silent;
};

TEST_F(Indexing, AConnectionThatDropsInTheMiddleIsResumedByRangeAndTheIndexIsTheSame) {
  const std::string tar = TarBuilder().File("noise", NoiseBytes(6 << 20, 1)).Finish(), layer = Gzip(tar, 1);
  AddImage(layer, oci::Digest::Of(tar).ToString());
  const Result<ImageReport> whole = Index();
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_TRUE(whole->index);
  const uint64_t before = registry.BlobBytes();
  // Closed in order three times, then reset twice.
  const std::string hex = oci::Digest::Of(layer).Hex();
  registry.Change([&](RegistryScript& script) {
    script.storage_troubles.push_back(
        {.part = hex, .times = 3, .effect = [](Answer& answer) { answer.end_at = 700'000; }});
    script.storage_troubles.push_back(
        {.part = hex, .from = 4, .times = 2, .effect = [](Answer& answer) { answer.reset_at = 500'000; }});
  });
  const Result<ImageReport> resumed = Index();
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ASSERT_TRUE(resumed->index);
  EXPECT_EQ(resumed->index->digest, whole->index->digest);
  // What was on its way when the connection was reset is the most that may come twice.
  EXPECT_LE(registry.BlobBytes() - before, layer.size() + layer.size() / 20 + 2 * 500'000);
  size_t resumes = 0;
  for (const SeenRequest& request : registry.Requests("GET", hex)) {
    const std::string range = request.Header("range");
    resumes += !range.empty() && !range.starts_with("bytes=0-");
  }
  EXPECT_GE(resumes, 5u);
}

// Field report A14: whoever collects garbage at any moment finds no manifest that lists what is not there.
TEST_F(Indexing, A14_WhatAnIndexListsIsStoredBeforeTheIndex) {
  const std::string tar = TarBuilder().File("noise", NoiseBytes(1 << 20, 1)).Finish();
  AddImage(Gzip(tar), oci::Digest::Of(tar).ToString());
  const Result<ImageReport> report = Index();
  ASSERT_TRUE(report.ok()) << report.status();
  const std::vector<SeenRequest> puts = registry.Requests("PUT", "");
  ASSERT_EQ(puts.size(), 3u) << "the empty config, the zTOC, the index";
  EXPECT_NE(puts[1].target.find(report->layers.at(0).ztoc.digest.Hex()), std::string::npos);
  EXPECT_NE(puts[2].target.find("/manifests/" + report->index->digest.ToString()), std::string::npos);
}

TEST_F(Indexing, ALayerWhoseBytesAreOthersIsSkippedAndNothingIsStored) {
  const std::string tar = TarBuilder().File("noise", NoiseBytes(1 << 20, 1)).Finish();
  const oci::Descriptor image = AddImage(Gzip(tar), oci::Digest::Of(tar).ToString());
  registry.Change([](RegistryScript& script) {
    script.storage_troubles.push_back({.from = 2, .effect = [](Answer& answer) { answer.flip_bit_at = 5000; }});
  });
  const Result<ImageReport> report = Index();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(report->index);
  EXPECT_EQ(report->layers.at(0).outcome, LayerOutcome::kRefused);
  EXPECT_EQ(registry.Count("PUT", "/"), 0u);
}

}  // namespace
}  // namespace soci::test
