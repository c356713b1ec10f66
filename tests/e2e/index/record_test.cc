// `soci-index record` against a real registry and a layout: publish, find, merge, carry over to the next version, and
// write the prefetch artifact of the SOCI format from a record.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "indexer/base/file_io.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/manifest.h"
#include "indexer/record/merge_records.h"
#include "indexer/record/record_builder.h"
#include "indexer/record/record_codec.h"
#include "tests/e2e/support/docker_registry.h"
#include "tests/e2e/support/image.h"
#include "tests/e2e/support/process.h"
#include "tests/e2e/support/sandbox.h"
#include "tests/fakes/scripted_registry.h"
#include "tests/support/tar_builder.h"

namespace soci::test {
namespace {

using testing::HasSubstr;

class RecordProgram : public ::testing::Test {
 protected:
  CommandResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SOCI_BINARY_DIR "/bin/soci-index");
    return RunCommand(arguments, std::chrono::seconds(60),
                      {.environment = {{"DOCKER_CONFIG", sandbox_ / "docker"}, {"HOME", sandbox_.root()}}});
  }
  void ExpectFailure(const std::vector<std::string>& arguments, int code, const std::string& says) {
    const CommandResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_EQ(result.out, "");
  }
  // The record of a run that reads these files of an image's layer, one after the other; in a file of this name.
  Record Write(const std::string& name, const TestImage& image, const std::vector<std::string>& paths,
               uint64_t size = 400'000) {
    std::vector<oci::LayerDigest> layers;
    for (const ImageLayer& layer : image.layers()) layers.emplace_back(layer.digest);
    RecordBuilder builder(image.digest(), layers);
    uint64_t now = 0;
    for (const std::string& path : paths) builder.Add(layers.back(), path, size, 0, 8'192, now += 1'000);
    Record record = builder.Build();
    EXPECT_TRUE(WriteFileAtomic(sandbox_ / name, EncodeRecord(record).value()).ok());
    return record;
  }
  Record Read(const std::string& name) { return DecodeRecord(ReadFile(sandbox_ / name).value()).value(); }
  static ImageLayer Layer(uint32_t seed) {
    return GzipLayer(TarBuilder()
                         .File("base", NoiseBytes(400'000, 7))
                         .File("train", NoiseBytes(400'000, 8))
                         .File("serve", NoiseBytes(400'000, 9))
                         .File("version", fmt::format("{}", seed))
                         .Finish());
  }
  static ImageLayer Common() { return GzipLayer(TarBuilder().File("common", NoiseBytes(100'000, 5)).Finish()); }

  Sandbox sandbox_;
  const TestImage image_ = TestImage().Add(Common()).Add(Layer(1));
};

TEST_F(RecordProgram, ARecordIsPublishedBesideTheImageAndMergedWithTheOneThere) {
  DockerRegistry registry(sandbox_);
  const std::string name = image_.Push(registry, "team/image", "v1");
  const std::string index = Run({"create", "--min-layer-size=0", "--span-size=64KiB", name}).out;
  const Record train = Write("train", image_, {"base", "train"}), serve = Write("serve", image_, {"base", "serve"});
  ExpectFailure({"record", "pull", name}, 3, "has no record");
  const CommandResult first = Run({"record", "push", name, sandbox_ / "train"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, testing::StartsWith("sha256:"));
  EXPECT_EQ(Run({"record", "pull", name}).out, EncodeRecord(train).value());
  EXPECT_EQ(Run({"record", "push", name, sandbox_ / "train"}).out, first.out);  // nothing new
  const CommandResult second = Run({"record", "push", "--json", name, sandbox_ / "serve"});
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(nlohmann::json::parse(second.out)["runs"], 2);
  ASSERT_EQ(Run({"record", "pull", name, "-o", sandbox_ / "pulled"}).exit_code, 0);
  EXPECT_EQ(Read("pulled"), MergeRecords({train, serve}).value());
  const auto shown = nlohmann::json::parse(Run({"record", "show", "--extents", "--json", name}).out);
  EXPECT_EQ(shown["needed"][0]["path"], "base");
  EXPECT_EQ(shown["needed"][0]["runs"], 2);
  EXPECT_EQ(shown["artifact"], nlohmann::json::parse(second.out)["artifact"]);
  // The image and its index are what they were.
  EXPECT_EQ(Run({"create", "--min-layer-size=0", "--span-size=64KiB", name}).out, index);
  EXPECT_EQ(Run({"list", name}).exit_code, 0);
  EXPECT_EQ(Run({"verify", name}).exit_code, 0);
}

TEST_F(RecordProgram, ARegistryWithTheReferrersApiListsItByItself) {
  ScriptedRegistry registry;
  for (const ImageLayer& layer : image_.layers()) registry.AddBlob("team/image", layer.blob);
  registry.AddBlob("team/image", image_.Config());
  registry.AddManifest("team/image", "v1", oci::kMediaTypeManifest, image_.Manifest());
  const std::string name = registry.host() + "/team/image:v1";
  const Record train = Write("train", image_, {"base", "train"});
  ASSERT_EQ(Run({"record", "push", name, sandbox_ / "train"}).exit_code, 0);
  EXPECT_EQ(Run({"record", "pull", name}).out, EncodeRecord(train).value());
  ScriptedRegistry closed({.refuses_subject = true});
  for (const ImageLayer& layer : image_.layers()) closed.AddBlob("team/image", layer.blob);
  closed.AddBlob("team/image", image_.Config());
  closed.AddManifest("team/image", "v1", oci::kMediaTypeManifest, image_.Manifest());
  ExpectFailure({"record", "push", closed.host() + "/team/image:v1", sandbox_ / "train"}, 9, "beside the image");
}

TEST_F(RecordProgram, WhatIsNoRecordOfTheImageIsRefused) {
  const std::string layout = sandbox_ / "layout";
  image_.WriteLayout(layout, "v1");
  const std::string name = "oci:" + layout;
  Write("next", TestImage().Add(Common()).Add(Layer(2)), {"base"});
  ExpectFailure({"record", "push", name, sandbox_ / "next"}, 6, "record transfer");
  ASSERT_TRUE(WriteFileAtomic(sandbox_ / "junk", std::string(100, 'x')).ok());
  ExpectFailure({"record", "push", name, sandbox_ / "junk"}, 6, "junk");
  ExpectFailure({"record", "show", sandbox_ / "junk"}, 6, "junk");
  ExpectFailure({"record", "push", name, sandbox_ / "nothing"}, 3, "nothing");
  ExpectFailure({"record", "pull", "--json", name}, 2, "--output");
  Write("train", image_, {"train"});
  ExpectFailure({"record", "merge", sandbox_ / "train", sandbox_ / "next", "-o", sandbox_ / "out"}, 6, "another about");
}

TEST_F(RecordProgram, InALayoutItIsListedAndMergedOnesAreWritten) {
  const std::string layout = sandbox_ / "layout";
  image_.WriteLayout(layout, "v1");
  const Record train = Write("train", image_, {"base", "train"}), serve = Write("serve", image_, {"base", "serve"});
  ASSERT_EQ(Run({"record", "merge", sandbox_ / "train", sandbox_ / "serve", "-o", sandbox_ / "merged"}).exit_code, 0);
  EXPECT_EQ(Read("merged"), MergeRecords({train, serve}).value());
  ASSERT_EQ(Run({"record", "push", "oci:" + layout, sandbox_ / "merged"}).exit_code, 0);
  EXPECT_THAT(Run({"record", "show", "oci:" + layout}).out, HasSubstr("2 runs, 3 extents of 3 files in 1 of 2 layers"));
  EXPECT_EQ(Run({"create", "--min-layer-size=0", "oci:" + layout}).exit_code, 0);  // it is no image
}

TEST_F(RecordProgram, TheNextVersionIsServedByTheRecordOfTheOneBefore) {
  const TestImage next = TestImage().Add(Common()).Add(Layer(2));
  const std::string layout = sandbox_ / "layout";
  next.WriteLayout(layout, "v2");
  Write("old", image_, {"base", "gone", "train"});
  ExpectFailure({"record", "transfer", "oci:" + layout, sandbox_ / "old", "-o", sandbox_ / "new"}, 3, "no SOCI index");
  ASSERT_EQ(Run({"create", "--min-layer-size=0", "oci:" + layout}).exit_code, 0);
  const CommandResult transfer =
      Run({"record", "transfer", "oci:" + layout, sandbox_ / "old", "-o", sandbox_ / "new", "--json"});
  ASSERT_EQ(transfer.exit_code, 0) << transfer.err;
  EXPECT_THAT(transfer.out, HasSubstr(R"("kept_bytes":0,"moved_bytes":16384,"lost_bytes":8192)"));
  EXPECT_EQ(transfer.err, "0 bytes in equal layers, 16384 in equal files, 8192 left out\n");
  const Record record = Read("new");
  EXPECT_EQ(record.manifest, next.digest());
  EXPECT_THAT(NeedTimes(record), testing::ElementsAre(1'000, 3'000));
  EXPECT_EQ(Run({"record", "push", "oci:" + layout, sandbox_ / "new"}).exit_code, 0);
}

TEST_F(RecordProgram, ThePrefetchArtifactOfTheFormatIsWrittenFromARecord) {
  const std::string layout = sandbox_ / "layout";
  image_.WriteLayout(layout, "v1");
  Write("train", image_, {"base", "train"});
  const CommandResult create = Run({"create", "--json", "--min-layer-size=0", "--span-size=64KiB", "--prefetch-from",
                                    sandbox_ / "train", "oci:" + layout});
  ASSERT_EQ(create.exit_code, 0) << create.err;
  const auto platform = nlohmann::json::parse(create.out)["platforms"][0];
  const auto blob = [&](const std::string& digest) {
    return ReadFile(layout + "/blobs/sha256/" + digest.substr(7)).value();
  };
  std::vector<oci::Descriptor> prefetch;
  const oci::Manifest index = oci::Manifest::Parse(blob(platform["index"])).value();
  for (const oci::Descriptor& one : index.layers) {
    if (one.media_type == oci::kMediaTypePrefetch) prefetch.push_back(one);
  }
  ASSERT_EQ(prefetch.size(), 1u);
  EXPECT_EQ(prefetch[0].annotations.at(std::string(oci::kAnnotationLayerDigest)), image_.layers()[1].digest.ToString());
  // The first 8 KiB of the first file, and of the second, 400 KB behind it.
  const auto spans = nlohmann::json::parse(blob(prefetch[0].digest.ToString()))["prefetch_spans"];
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0]["start_span"], 0);
  EXPECT_GE(spans[1]["start_span"], 3);
  EXPECT_LE(spans[1]["end_span"], 7);
  EXPECT_EQ(Run({"verify", "oci:" + layout}).exit_code, 0);
  // The same without a cache and with a full one.
  for (int i = 0; i < 2; ++i) {
    const CommandResult again = Run({"create", "--json", "--min-layer-size=0", "--span-size=64KiB", "--cache",
                                     sandbox_ / "cache", "--prefetch-from", sandbox_ / "train", "oci:" + layout});
    EXPECT_EQ(nlohmann::json::parse(again.out)["platforms"][0]["index"], platform["index"]);
  }
}

}  // namespace
}  // namespace soci::test
