// soci-index as a program, on OCI layouts: what it prints, its exit codes, and that nothing is half-written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "indexer/base/file_io.h"
#include "indexer/oci/digest.h"
#include "tests/e2e/support/process.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci::golden {
namespace {

using test::CommandResult;
using test::TarBuilder;
using testing::HasSubstr;
using testing::StartsWith;

class Program : public testing::Test {
 protected:
  // A copy of a golden image; its reference.
  std::string Image(const std::string& name) {
    std::filesystem::copy(SOCI_BINARY_DIR "/golden/images/" + name, directory / name,
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    return "oci:" + (directory / name);
  }
  CommandResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SOCI_BINARY_DIR "/bin/soci-index");
    return test::RunCommand(arguments);
  }
  // Every file below the directory with its contents' digest.
  std::string Contents() {
    std::vector<std::string> lines;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path())) {
      if (!entry.is_regular_file()) continue;
      lines.push_back(entry.path().string() + " " + oci::Digest::Of(ReadFile(entry.path()).value()).ToString());
    }
    std::sort(lines.begin(), lines.end());
    std::ostringstream all;
    for (const std::string& line : lines) all << line << "\n";
    return all.str();
  }
  std::string BlobPath(const std::string& image, const std::string& digest) {
    return directory / (image + "/blobs/sha256/" + digest.substr(7));
  }
  // The command fails with this code, one line that says so, and nothing changed.
  void ExpectFailure(const std::vector<std::string>& arguments, int code, const std::string& says) {
    const std::string before = Contents();
    const CommandResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("soci-index: "));
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(Contents(), before);
  }

  test::TemporaryDirectory directory;
};

const std::vector<std::vector<std::string>> kVerbs = {{},
                                                      {"create"},
                                                      {"list"},
                                                      {"info"},
                                                      {"verify"},
                                                      {"ztoc"},
                                                      {"ztoc", "info"},
                                                      {"ztoc", "get-file"},
                                                      {"record"},
                                                      {"record", "push"},
                                                      {"record", "pull"},
                                                      {"record", "show"},
                                                      {"record", "merge"},
                                                      {"record", "transfer"}};

constexpr char kIndexOfI01[] = "sha256:8fc12959556be3ae4a37ac7136f08f92a1302094bef44b567f2105a1ce89a219";
constexpr char kLayerOfI01[] = "sha256:32ee606b5f11db26a278ce4b031211e5a3e08a9417d165a7ce2aab241fc99b0b";

TEST_F(Program, CreatePrintsOneDigestAndPlatformPerLine) {
  const CommandResult result = Run({"create", Image("i01-single-big")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, std::string(kIndexOfI01) + " linux/amd64\n");
  EXPECT_THAT(result.err, HasSubstr("layer sha256:32ee606b5f11  13.1 MiB  indexed\n"));
}

// Field reports A7 and A9: several architectures and an attestation, on a machine of one; and an entry without
// platform.
TEST_F(Program, EveryPlatformIsIndexedUnlessSomeAreNamed) {
  const std::string image = Image("i03-multi-platform");
  const CommandResult all = Run({"create", "--min-layer-size", "0", "--span-size", "64KiB", image});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(all.out,
            "sha256:24c8654b36e33f26b1faddc17275c0359135d29c7490958589327896f9c96ced linux/amd64\n"
            "sha256:b83c75985f332779dfbebc2ecf564758e8cc57626b244ed17aba003f8a4e448b linux/arm64/v8\n"
            "sha256:06f8e639229bec12e8c22d61c9ab93a30883f37e454736e2cd7660521652b0cb linux/arm/v7\n");
  const CommandResult one = Run({"create", "--min-layer-size", "0", "--platform", "linux/arm64", image});
  EXPECT_THAT(one.out, HasSubstr(" linux/arm64/v8\n"));
  EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 1);
  ExpectFailure({"create", "--platform", "linux/s390x", image}, 3, "platform linux/s390x is not in the image");
}

// Field report A7: what has no platform, or is no image, does not disturb.
TEST_F(Program, AnEntryWithoutAPlatformGetsItsConfigs) {
  const CommandResult create = Run({"create", "--min-layer-size", "0", Image("i15-no-platform")});
  EXPECT_EQ(create.exit_code, 0) << create.err;
  EXPECT_THAT(create.out, testing::MatchesRegex("sha256:[0-9a-f]+ linux/amd64\nsha256:[0-9a-f]+ linux/arm64\n"));
}

// Field report A8.
TEST_F(Program, APlatformThatIsNotThereIsReportedAndTheOthersAreIndexed) {
  const CommandResult create = Run({"create", "--min-layer-size", "0", Image("i10-partial-list")});
  EXPECT_EQ(create.exit_code, 7) << create.err;
  EXPECT_THAT(create.err, HasSubstr("platform linux/arm/v7 not indexed: "));
  EXPECT_GE(std::count(create.out.begin(), create.out.end(), '\n'), 1);
}

TEST_F(Program, TheSameImageGetsTheSameIndexWhateverTheMachineIsSetTo) {
  const std::string image = Image("i03-multi-platform");
  std::vector<std::string> outputs;
  for (const char* jobs : {"1", "7"}) {
    for (const auto& [zone, locale] :
         {std::pair("UTC", "C"), {"Asia/Kathmandu", "C.UTF-8"}, {"America/St_Johns", "de_DE"}}) {
      const CommandResult create = test::RunCommand(
          {SOCI_BINARY_DIR "/bin/soci-index", "create", "--min-layer-size", "0", "--jobs", jobs, image},
          std::chrono::seconds(60), {.environment = {{"TZ", zone}, {"LC_ALL", locale}}});
      EXPECT_EQ(create.exit_code, 0) << create.err;
      outputs.push_back(create.out);
    }
  }
  EXPECT_NE(outputs[0], "");
  EXPECT_THAT(outputs, testing::Each(outputs[0]));
}

// Field report A16: a user without rights, in an empty environment.
TEST_F(Program, NeedsNoRightsAndNoEnvironment) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const std::string image = Image("i01-single-big");
  std::filesystem::copy_file(SOCI_BINARY_DIR "/bin/soci-index", directory / "soci-index");
  ASSERT_TRUE(test::RunCommand({"chown", "-R", "65534:65534", directory.path()}).ok());
  const CommandResult create = test::RunCommand({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env",
                                                 "-i", directory / "soci-index", "create", image});
  EXPECT_EQ(create.out, std::string(kIndexOfI01) + " linux/amd64\n") << create.err;
}

// Field report A24: one image under two names.
TEST_F(Program, TheSameImageUnderTwoNamesGetsOneIndexForBoth) {
  const std::string image = Image("i01-single-big"), path = directory / "i01-single-big/index.json";
  nlohmann::json index = nlohmann::json::parse(ReadFile(path).value());
  index["manifests"].push_back(index["manifests"][0]);
  index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"] = "one";
  index["manifests"][1]["annotations"]["org.opencontainers.image.ref.name"] = "two";
  ASSERT_TRUE(WriteFileAtomic(path, index.dump()).ok());
  for (const char* name : {":one", ":two", ""}) {
    EXPECT_EQ(Run({"create", image + name}).out, std::string(kIndexOfI01) + " linux/amd64\n");
  }
  for (const char* name : {":one", ":two"}) EXPECT_THAT(Run({"list", image + name}).out, HasSubstr(kIndexOfI01));
  index = nlohmann::json::parse(ReadFile(path).value());
  EXPECT_EQ(index["manifests"].size(), 3u);
}

TEST_F(Program, QuietTellsOnlyWhatWasSkipped) {
  const CommandResult result = Run({"create", "--quiet", Image("i02-many-layers")});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.err,
            "layer sha256:a3ed95caeb02  32 B  skipped (small): 32 bytes are less than the minimum of 10485760\n"
            "layer sha256:7a72fffff424  11.0 MiB  skipped (unsupported): zstd layers have no zTOC\n");
}

// Field report A5: zstd layers beside others; A6: nothing but small layers.
TEST_F(Program, ExitCodesTellAllSomeAndNoneAndAPipelineMayTakeThemAsSuccess) {
  EXPECT_EQ(Run({"create", Image("i02-many-layers")}).exit_code, 7);
  EXPECT_EQ(Run({"create", "--allow-partial", Image("i02-many-layers")}).exit_code, 0);
  const CommandResult none = Run({"create", Image("i08-all-small")});
  EXPECT_EQ(none.exit_code, 8);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("no layer to index, no index made\n"));
  EXPECT_EQ(Run({"create", "--allow-partial", Image("i08-all-small")}).exit_code, 0);
}

// Field report A16: an archive in, the same archive with the index in it out.
TEST_F(Program, AnArchiveGetsItsIndexAndKeepsEverythingElse) {
  const std::string image = Image("i01-single-big").substr(4), archive = directory / "image.tar";
  ASSERT_TRUE(test::RunCommand({"tar", "-cf", archive, "-C", image, "."}).ok());
  const CommandResult create = Run({"create", "oci-archive:" + archive});
  EXPECT_EQ(create.exit_code, 0) << create.err;
  EXPECT_EQ(create.out, std::string(kIndexOfI01) + " linux/amd64\n");
  EXPECT_EQ(Run({"verify", "--quiet", "oci-archive:" + archive}).exit_code, 0);
  // Any tar reads it, and it is the layout that create makes of the directory.
  const std::string unpacked = directory / "unpacked";
  ASSERT_TRUE(MakeDirectories(unpacked).ok());
  ASSERT_TRUE(test::RunCommand({"tar", "-xf", archive, "-C", unpacked}).ok());
  ASSERT_EQ(Run({"create", "oci:" + image}).exit_code, 0);
  const CommandResult same = test::RunCommand({"diff", "-r", image, unpacked});
  EXPECT_TRUE(same.ok()) << same.out;
  // Nothing to add: the file stays as it is.
  const std::string before = Contents();
  EXPECT_EQ(Run({"create", "oci-archive:" + archive}).out, create.out);
  EXPECT_EQ(Contents(), before);
}

// Field report A16: what `docker save` wrote; the index is that of the image as containerd imports it.
TEST_F(Program, ADockerArchiveGetsItsIndexInAnotherFileOrInPlace) {
  const std::string layer = TarBuilder().File("usr/big", test::NoiseBytes(11 << 20, 1)).Finish();
  const std::string config = R"({"architecture":"arm64","os":"linux","rootfs":{"type":"layers","diff_ids":[")" +
                             oci::Digest::Of(layer).ToString() + R"("]}})";
  const std::string name = oci::Digest::Of(config).Hex() + ".json", archive = directory / "saved.tar";
  ASSERT_TRUE(
      WriteFileAtomic(archive, TarBuilder()
                                   .Directory("0123")
                                   .File("0123/VERSION", "1.0")
                                   .File("0123/layer.tar", layer)
                                   .File(name, config)
                                   .File("manifest.json", R"([{"Config":")" + name +
                                                              R"(","RepoTags":["app:1"],"Layers":["0123/layer.tar"]}])")
                                   .Finish())
          .ok());
  const std::string before = ReadFile(archive).value(), copy = directory / "copy.tar";
  const CommandResult create = Run({"create", "--verify", "docker-archive:" + archive + ":app:1", "-o", copy});
  EXPECT_EQ(create.exit_code, 0) << create.err;
  EXPECT_THAT(create.out, HasSubstr(" linux/arm64\n"));
  EXPECT_TRUE(ReadFile(archive).value() == before);
  for (const char* kind : {"oci-archive:", "docker-archive:"}) {
    EXPECT_EQ(Run({"verify", kind + copy}).exit_code, 0);
    EXPECT_THAT(Run({"list", kind + copy + ":app:1"}).out, HasSubstr(create.out.substr(0, 71)));
  }
  EXPECT_EQ(Run({"create", "docker-archive:" + archive}).out, create.out);
  EXPECT_TRUE(ReadFile(archive).value() == ReadFile(copy).value());
  ExpectFailure({"create", "docker-archive:" + archive + ":other:1"}, 3, "no image of this name");
  ExpectFailure({"create", Image("i01-single-big"), "-o", copy}, 2, "--output");
}

TEST_F(Program, AnArchiveThatIsNoneIsBadData) {
  const std::string file = directory / "file.tar";
  ExpectFailure({"create", "oci-archive:" + file}, 3, "file.tar");
  ASSERT_TRUE(WriteFileAtomic(file, std::string(2000, 'x')).ok());
  ExpectFailure({"create", "oci-archive:" + file}, 6, "not an uncompressed tar archive");
  ASSERT_TRUE(WriteFileAtomic(file, std::string(2048, '\0')).ok());
  ExpectFailure({"create", "oci-archive:" + file}, 6, "not an OCI archive");
  ExpectFailure({"create", "docker-archive:" + file}, 6, "not a docker archive");
  const std::string image = Image("i01-single-big").substr(4);
  ASSERT_TRUE(test::RunCommand({"tar", "-cf", file, "-C", image, "."}).ok());
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  ExpectFailure({"create", "oci-archive:" + file}, 6, "damaged archive");
}

TEST_F(Program, AnImageWithNothingToIndexIsLeftAsItWas) {
  const std::string image = Image("i08-all-small"), before = Contents();
  Run({"create", image});
  EXPECT_EQ(Contents(), before);
}

TEST_F(Program, JsonSaysWhatBecameOfEachLayer) {
  const CommandResult result = Run({"create", "--json", Image("i02-many-layers")});
  const auto report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report["result"], "some");
  const auto& layers = report["platforms"][0]["layers"];
  ASSERT_EQ(layers.size(), 6u);
  EXPECT_EQ(layers[0]["outcome"], "indexed");
  EXPECT_EQ(layers[1]["outcome"], "small");
  EXPECT_EQ(layers[3]["reason"], "zstd layers have no zTOC");
  EXPECT_EQ(layers[5]["ztoc"], layers[0]["ztoc"]);
}

TEST_F(Program, ListAndInfoShowWhatCreateMade) {
  const std::string image = Image("i01-single-big");
  ExpectFailure({"list", image}, 3, "the image has no SOCI index");
  Run({"create", image});
  const CommandResult list = Run({"list", image});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.out, HasSubstr(std::string(kIndexOfI01) + "  linux/amd64  1"));
  EXPECT_EQ(nlohmann::json::parse(Run({"list", "--json", image}).out)[0]["digest"], kIndexOfI01);
  for (const auto& arguments : {std::vector<std::string>{"info", image + "@" + kIndexOfI01},
                                {"info", kIndexOfI01, "--at", image},
                                {"info", image}}) {
    const CommandResult info = Run(arguments);
    EXPECT_EQ(info.exit_code, 0) << info.err;
    EXPECT_THAT(info.out, HasSubstr("SOCI index " + std::string(kIndexOfI01)));
  }
  const auto info = nlohmann::json::parse(Run({"info", "--json", image}).out);
  EXPECT_EQ(info[0]["artifacts"][0]["layer"], kLayerOfI01);
  ExpectFailure({"info", kIndexOfI01}, 2, "--at");
}

// Field report A13: two images share a layer and are indexed with different span sizes; each lists its own.
TEST_F(Program, EachImageListsItsOwnIndexesOnly) {
  const std::string one = Image("i01-single-big");
  Run({"create", one});
  const std::string two = Image("i02-many-layers");
  Run({"create", "--span-size", "1MiB", two});
  EXPECT_EQ(nlohmann::json::parse(Run({"list", "--json", one}).out).size(), 1u);
  EXPECT_EQ(nlohmann::json::parse(Run({"list", "--json", one}).out)[0]["digest"], kIndexOfI01);
  EXPECT_NE(nlohmann::json::parse(Run({"list", "--json", two}).out)[0]["digest"], kIndexOfI01);
}

// Field report A12: there is no second database that could know better than the store.
TEST_F(Program, AnIndexThatWasDeletedIsNotListedAndIsMadeAgain) {
  const std::string image = Image("i01-single-big");
  Run({"create", image});
  std::filesystem::remove(BlobPath("i01-single-big", kIndexOfI01));
  ExpectFailure({"list", image}, 3, "has no SOCI index");
  EXPECT_EQ(Run({"create", image}).exit_code, 0);
  EXPECT_EQ(Run({"list", image}).exit_code, 0);
}

TEST_F(Program, WrongUsageIsOneLineAndCode2) {
  const std::string image = Image("i08-all-small");
  ExpectFailure({}, 2, "subcommand");
  ExpectFailure({"create"}, 2, "image is required");
  ExpectFailure({"create", image, "--no-such-flag"}, 2, "--no-such-flag");
  ExpectFailure({"create", "oci:"}, 2, "names no file or directory");
  ExpectFailure({"create", "Not/A:Reference"}, 2, "is not an image reference");
  ExpectFailure({"create", image, "--platform", "a b"}, 2, "is not a platform");
  ExpectFailure({"create", image, "--platform", "linux/amd64", "--all-platforms"}, 2, "--all-platforms");
}

// Field report A22.
TEST_F(Program, AbsurdSizesAreRefused) {
  const std::string image = Image("i08-all-small");
  for (const char* size : {"-1", "0", "1", "9223372036854775808", "18446744073709551617", "x", ""}) {
    ExpectFailure({"create", image, "--span-size", size}, 2, "--span-size");
  }
  for (const char* size : {"-1", "9223372036854775808", "x"}) {
    ExpectFailure({"create", image, "--min-layer-size", size}, 2, "--min-layer-size");
  }
}

TEST_F(Program, AnImageThatIsNotThereIsCode3) {
  ExpectFailure({"create", "oci:" + (directory / "nowhere")}, 3, "nowhere");
  ExpectFailure({"create", Image("i01-single-big") + ":other"}, 3, "there is no image of this name");
  ExpectFailure({"create", Image("i01-single-big") + "@sha256:" + std::string(64, 'a')}, 3, std::string(64, 'a'));
}

TEST_F(Program, BadDataIsCode6AndNamesTheBlob) {
  const std::string image = Image("i01-single-big");
  // No image at all: the directory is no layout, the digest is a layer.
  ExpectFailure({"create", "oci:" + directory.path()}, 6, "is not an OCI layout");
  ExpectFailure({"create", image + "@sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}, 3,
                "44136fa3");
  const std::string manifest = "sha256:fc0b2b9b5f9d1dbf01198a02e3824bc9c6e467544151d0a8329a1165de9b3c11";
  std::ofstream(BlobPath("i01-single-big", manifest), std::ios::app) << " ";
  ExpectFailure({"create", image}, 6, manifest);
}

TEST_F(Program, ACorruptLayerIsSkippedWithItsReason) {
  const std::string image = Image("i01-single-big");
  const std::string path = BlobPath("i01-single-big", kLayerOfI01);
  std::string bytes = ReadFile(path).value();
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  ASSERT_TRUE(WriteFileAtomic(path, bytes).ok());
  const std::string before = Contents();
  const CommandResult flipped = Run({"create", image});
  EXPECT_EQ(flipped.exit_code, 6);
  EXPECT_EQ(flipped.out, "");
  EXPECT_THAT(flipped.err, HasSubstr("layer sha256:32ee606b5f11  13.1 MiB  skipped (refused): "));
  EXPECT_EQ(Contents(), before);
  bytes.resize(bytes.size() / 2);
  ASSERT_TRUE(WriteFileAtomic(path, bytes).ok());
  const CommandResult cut = Run({"create", image});
  EXPECT_EQ(cut.exit_code, 6);
  EXPECT_THAT(cut.err, HasSubstr("bytes, but 13702247 are promised"));
}

TEST_F(Program, VerifyProvesWhatCreateMadeAndNamesFaultsOneByOne) {
  const std::string image = Image("i01-single-big");
  ExpectFailure({"verify", image}, 3, "has no SOCI index");
  ASSERT_EQ(Run({"create", "--verify", image}).exit_code, 0);
  const CommandResult right = Run({"verify", image});
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_THAT(right.out, StartsWith(std::string(kIndexOfI01) + " linux/amd64 right: 1 layers, "));
  EXPECT_EQ(nlohmann::json::parse(Run({"verify", "--json", image}).out)[0]["right"], true);
  EXPECT_EQ(Run({"verify", "--index", kIndexOfI01, image}).exit_code, 0);
  ExpectFailure({"verify", "--index", "sha256:" + std::string(64, 'a'), image}, 3, "No such file");
  ExpectFailure({"verify", "--index", "x", image}, 2, "--index");
  // A byte in the middle of the layer.
  const std::string path = BlobPath("i01-single-big", kLayerOfI01);
  std::string bytes = ReadFile(path).value();
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  ASSERT_TRUE(WriteFileAtomic(path, bytes).ok());
  const CommandResult wrong = Run({"verify", "--quiet", image});
  EXPECT_EQ(wrong.exit_code, 6);
  std::istringstream lines(wrong.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, StartsWith(std::string(kIndexOfI01) + " layer " + kLayerOfI01 + " "));
  }
  EXPECT_THAT(wrong.out, HasSubstr("span 2: its bytes do not match its digest\n"));
  EXPECT_THAT(wrong.out, HasSubstr("the layer itself is damaged"));
}

TEST_F(Program, ZtocInfoAndGetFileLookIntoALayer) {
  const std::string image = Image("i06-prefetch");
  ASSERT_EQ(Run({"create", "--min-layer-size", "0", "--span-size", "64KiB", image}).exit_code, 0);
  const auto info = nlohmann::json::parse(Run({"info", "--json", image}).out)[0];
  const std::string layer = info["artifacts"][0]["layer"], ztoc = info["artifacts"][0]["digest"];
  for (const std::string& digest : {layer, ztoc}) {
    const CommandResult text = Run({"ztoc", "info", "--files", image, digest});
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("  f/a\n"));
  }
  const auto json = nlohmann::json::parse(Run({"ztoc", "info", "--files", "--json", image, ztoc}).out);
  EXPECT_EQ(json["files"].size(), json["entries"]);
  EXPECT_EQ(json["layer"], layer);
  const CommandResult expected =
      test::RunCommand({"sh", "-c", "gzip -dc \"$1\" | tar -xO f/a", "sh", BlobPath("i06-prefetch", layer)});
  const CommandResult file = Run({"ztoc", "get-file", image, ztoc, "/f/a"});
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_GT(file.out.size(), 0u);
  EXPECT_TRUE(file.out == expected.out);
  ASSERT_EQ(Run({"ztoc", "get-file", image, ztoc, "f/a", "-o", directory / "out"}).exit_code, 0);
  EXPECT_TRUE(ReadFile(directory / "out").value() == expected.out);
  const CommandResult told = Run({"ztoc", "get-file", "--json", image, ztoc, "f/a", "-o", directory / "again"});
  EXPECT_EQ(nlohmann::json::parse(told.out)["file"]["size"], expected.out.size()) << told.err;
  EXPECT_TRUE(ReadFile(directory / "again").value() == expected.out);
  ExpectFailure({"ztoc", "get-file", "--json", image, ztoc, "f/a"}, 2, "--output");
  ExpectFailure({"ztoc", "get-file", image, ztoc, "f/no"}, 3, "f/no");
  ExpectFailure({"ztoc", "get-file", image, ztoc, "f", "-o", directory / "new"}, 1, "is no regular file");
  ExpectFailure({"ztoc", "info", image, "sha256:" + std::string(64, 'a')}, 3, "has a zTOC");
  ExpectFailure({"ztoc", "info", image, "x"}, 2, "is not a digest");
  ExpectFailure({"ztoc"}, 2, "subcommand");
}

TEST_F(Program, HelpFitsOneScreenAndHasAnExample) {
  for (const auto& verb : kVerbs) {
    std::vector<std::string> arguments = verb;
    arguments.push_back("--help");
    const CommandResult help = Run(arguments);
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.out, HasSubstr("Example:\n  soci-index "));
    std::istringstream lines(help.out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100u) << line;
    EXPECT_LE(count, 24) << help.out;
  }
  EXPECT_THAT(Run({"--version"}).out, StartsWith("soci-index "));
}

TEST_F(Program, EveryFlagIsDocumented) {
  const std::string page = ReadFile(SOCI_SOURCE_DIR "/docs/indexing.md").value();
  for (std::vector<std::string> verb : kVerbs) {
    verb.push_back("--help");
    std::istringstream words(Run(verb).out);
    for (std::string word; words >> word;) {
      if (!word.starts_with("--")) continue;
      EXPECT_THAT(page, HasSubstr("`" + word)) << verb.front();
    }
  }
}

}  // namespace
}  // namespace soci::golden
