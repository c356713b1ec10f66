#include <gtest/gtest.h>

#include "indexer/oci/annotations.h"
#include "snapshotter/daemon/image_pull.h"

namespace soci {
namespace {

oci::Manifest ManifestOf(size_t layers) {
  oci::Manifest manifest;
  for (size_t i = 0; i < layers; ++i) {
    oci::Descriptor layer;
    layer.digest = oci::Digest::Of(std::to_string(i));
    manifest.layers.push_back(layer);
  }
  return manifest;
}

TEST(NeighboursLabel, NamesTheLayerAndThoseAboveIt) {
  const oci::Manifest manifest = ManifestOf(3);
  EXPECT_EQ(NeighboursLabel(manifest, 1),
            manifest.layers[1].digest.ToString() + "," + manifest.layers[2].digest.ToString());
}

TEST(NeighboursLabel, C8IsCutOffBetweenTwoDigestsBeforeContainerdsLimit) {
  const std::string label = NeighboursLabel(ManifestOf(127), 0);
  EXPECT_LE(oci::kLabelImageLayers.size() + label.size(), 4096u);
  EXPECT_EQ((label.size() + 1) % 72, 0u);
}

}  // namespace
}  // namespace soci
