#include "snapshotter/pull/layer_origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci {
namespace {

LayerOrigin Sample() {
  LayerOrigin origin;
  origin.image = *oci::Reference::Parse("registry.example/ai/train:v3");
  origin.unpacked = true;
  origin.manifest = oci::Digest::Of("manifest");
  origin.media_type = "application/vnd.oci.image.layer.v1.tar+gzip";
  origin.layer_size = uint64_t{1} << 40;
  origin.diff_id = oci::DiffId(oci::Digest::Of("tar"));
  origin.ztoc = oci::Digest::Of("ztoc");
  origin.disable_xattrs = true;
  origin.number = 7;
  return origin;
}

TEST(LayerOrigin, WhatWasWrittenIsReadAgain) {
  auto read = LayerOrigin::Parse(Sample().ToJson());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Sample());
}

TEST(LayerOrigin, AMissingOrFalseMemberIsRefused) {
  const std::string whole = Sample().ToJson();
  for (const char* member : {"image", "manifest", "mediaType", "layerSize", "diffId", "ztoc", "number", "version"}) {
    std::string json = whole;
    json.replace(json.find(std::string("\"") + member + "\""), 2, "\"?");
    EXPECT_FALSE(LayerOrigin::Parse(json).ok()) << member;
  }
  std::string negative = whole;
  negative.replace(negative.find("1099511627776"), 13, "-1");
  EXPECT_FALSE(LayerOrigin::Parse(negative).ok());
}

TEST(LayerOrigin, GarbageIsRefusedWithoutHarm) {
  for (std::string_view json : {"", "{", "[]", "null", "\xff\xfe", "{\"version\":1e400}"}) {
    EXPECT_FALSE(LayerOrigin::Parse(json).ok()) << json;
  }
}

}  // namespace
}  // namespace soci
