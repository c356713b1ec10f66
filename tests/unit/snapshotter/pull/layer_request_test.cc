#include "snapshotter/pull/layer_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/oci/annotations.h"

namespace soci {
namespace {

using ::testing::HasSubstr;

const std::string kManifest = "sha256:" + std::string(64, 'a');
const std::string kLayer = "sha256:" + std::string(64, 'b');
const std::string kOther = "sha256:" + std::string(64, 'c');

void Set(Labels& labels, std::string_view key, std::string value) { labels[std::string(key)] = std::move(value); }

Labels CriLabels() {
  Labels labels;
  Set(labels, oci::kLabelSnapshotRef, kOther);
  Set(labels, oci::kLabelImageRef, "registry.example:5000/ai/train:v3");
  Set(labels, oci::kLabelManifestDigest, kManifest);
  Set(labels, oci::kLabelLayerDigest, kLayer);
  Set(labels, oci::kLabelImageLayers, kLayer + "," + kOther);
  return labels;
}

LayerRequest Accepted(const Labels& labels) {
  auto outcome = ReadLayerRequest(labels);
  auto* request = std::get_if<LayerRequest>(&outcome);
  EXPECT_NE(request, nullptr) << std::get<RequestRefused>(outcome).reason;
  return request == nullptr ? LayerRequest{} : *request;
}

std::string Refusal(const Labels& labels) {
  auto outcome = ReadLayerRequest(labels);
  auto* refused = std::get_if<RequestRefused>(&outcome);
  return refused == nullptr ? "accepted" : refused->reason;
}

TEST(LayerRequest, C9LabelsThatCriSendsAreEnough) {
  const LayerRequest request = Accepted(CriLabels());
  EXPECT_EQ(request.image.host, "registry.example:5000");
  EXPECT_EQ(request.image.repository, "ai/train");
  EXPECT_EQ(request.manifest.ToString(), kManifest);
  EXPECT_EQ(request.layer.ToString(), kLayer);
  EXPECT_FALSE(request.soci_index.has_value());
}

TEST(LayerRequest, C10OnlyTheSnapshotRefIsRefusedNamingTheMissingLabel) {
  EXPECT_THAT(Refusal({{std::string(oci::kLabelSnapshotRef), kOther}}),
              HasSubstr("containerd.io/snapshot/cri.image-ref is missing"));
}

TEST(LayerRequest, EachNeededLabelIsNamedWhenMissingOrEmpty) {
  for (std::string_view key : {oci::kLabelImageRef, oci::kLabelManifestDigest, oci::kLabelLayerDigest}) {
    Labels labels = CriLabels();
    labels.erase(std::string(key));
    EXPECT_THAT(Refusal(labels), HasSubstr(std::string(key)));
    Set(labels, key, "");
    EXPECT_THAT(Refusal(labels), HasSubstr(std::string(key)));
  }
}

TEST(LayerRequest, C8AListOfNeighboursThatWasCutOffDoesNotMatter) {
  Labels labels = CriLabels();
  Set(labels, oci::kLabelImageLayers, kLayer + ",sha256:cccc");
  EXPECT_EQ(Accepted(labels).layer.ToString(), kLayer);
  labels.erase(std::string(oci::kLabelImageLayers));
  EXPECT_EQ(Accepted(labels).layer.ToString(), kLayer);
}

TEST(LayerRequest, C8AReferencePinnedByDigestWithALongNameIsRead) {
  Labels labels = CriLabels();
  Set(labels, oci::kLabelImageRef, "registry.example/" + std::string(200, 'x') + "@" + kManifest);
  EXPECT_EQ(Accepted(labels).image.digest->ToString(), kManifest);
}

TEST(LayerRequest, NerdctlsIndexDigestIsTheIndexToUse) {
  Labels labels = CriLabels();
  Set(labels, oci::kLabelSociIndexDigest, "");
  EXPECT_FALSE(Accepted(labels).soci_index.has_value());
  Set(labels, oci::kLabelSociIndexDigest, kOther);
  EXPECT_EQ(Accepted(labels).soci_index->ToString(), kOther);
}

TEST(LayerRequest, ValuesThatMakeNoSenseAreRefusedNamingTheLabel) {
  for (std::string_view key :
       {oci::kLabelManifestDigest, oci::kLabelLayerDigest, oci::kLabelSociIndexDigest, oci::kLabelImageRef}) {
    Labels labels = CriLabels();
    Set(labels, key, "sha256:../../etc/passwd");
    EXPECT_THAT(Refusal(labels), HasSubstr(std::string(key)));
  }
}

}  // namespace
}  // namespace soci
