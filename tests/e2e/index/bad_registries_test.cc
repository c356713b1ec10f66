// soci-index against registries with habits of their own. The tests name the field reports they answer.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "indexer/oci/annotations.h"
#include "indexer/oci/manifest.h"
#include "indexer/registry/referrers_tag.h"
#include "tests/e2e/support/image.h"
#include "tests/e2e/support/process.h"
#include "tests/e2e/support/sandbox.h"
#include "tests/fakes/scripted_registry.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRepo[] = "team/image";

class BadRegistries : public ::testing::Test {
 protected:
  CommandResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SOCI_BINARY_DIR "/bin/soci-index");
    CommandResult result = RunCommand(
        arguments, std::chrono::seconds(60),
        {.environment = {
             {"DOCKER_CONFIG", sandbox_ / "docker"}, {"HOME", sandbox_.root()}, {"TMPDIR", sandbox_.root()}}});
    // Whatever happened.
    EXPECT_THAT(result.out + result.err, Not(HasSubstr("secret")));
    return result;
  }
  CommandResult Create(const std::string& image, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"create", "--quiet", "--min-layer-size=0", "--span-size=64KiB", image});
    return Run(std::move(flags));
  }
  static ImageLayer Layer(uint32_t seed) {
    return GzipLayer(TarBuilder().File("file", NoiseBytes(400'000, seed)).Finish());
  }
  // Puts the image there and gives its name.
  std::string Add(ScriptedRegistry& registry, const TestImage& image, const std::string& tag = "v1") {
    for (const ImageLayer& layer : image.layers()) registry.AddBlob(kRepo, layer.blob);
    registry.AddBlob(kRepo, image.Config());
    registry.AddManifest(kRepo, tag, oci::kMediaTypeManifest, image.Manifest());
    return registry.host() + "/" + kRepo + ":" + tag;
  }
  void LogIn(const std::string& host, const std::string& user, const std::string& password) {
    std::filesystem::create_directories(sandbox_ / "docker");
    std::ofstream(sandbox_ / "docker/config.json")
        << fmt::format(R"({{"auths":{{"{}":{{"username":"{}","password":"{}"}}}}}})", host, user, password);
  }
  static std::string DigestIn(const CommandResult& create) { return create.out.substr(0, create.out.find(' ')); }

  Sandbox sandbox_;
  TestImage image_ = TestImage().Add(Layer(1)).Add(Layer(2));
};

// B1
TEST_F(BadRegistries, B1_ARefusedSubjectHasItsOwnExitCodeAndTheImageStays) {
  ScriptedRegistry registry({.refuses_subject = true});
  const std::string name = Add(registry, image_);
  const CommandResult create = Create(name);
  EXPECT_EQ(create.exit_code, 9) << create.err;
  EXPECT_THAT(create.err, HasSubstr("the registry takes nothing beside the image"));
  EXPECT_THAT(create.err, HasSubstr("400 MANIFEST_INVALID"));
  EXPECT_EQ(registry.Manifest(kRepo, "v1"), image_.Manifest());
}

// B4
TEST_F(BadRegistries, B4_ARegistryThatTakesNoArtifactsIsNamedAndTheImageStays) {
  ScriptedRegistry registry({.refuses_artifacts = true});
  const CommandResult create = Create(Add(registry, image_));
  EXPECT_EQ(create.exit_code, 9) << create.err;
  EXPECT_THAT(create.err, HasSubstr("405"));
  EXPECT_EQ(create.out, "");
  EXPECT_EQ(registry.Manifest(kRepo, "v1"), image_.Manifest());
}

// B2
TEST_F(BadRegistries, B2_WhereReferrersAreALoginPageTheIndexGoesByTheTagAndIsFound) {
  ScriptedRegistry registry({.referrers = RegistryScript::Referrers::kLoginPage, .takes_subject = false});
  const std::string name = Add(registry, image_);
  const CommandResult create = Create(name);
  ASSERT_EQ(create.exit_code, 0) << create.err;
  EXPECT_THAT(registry.Manifest(kRepo, ReferrersTag(image_.digest())), HasSubstr(DigestIn(create)));
  EXPECT_THAT(Run({"list", name}).out, HasSubstr(DigestIn(create)));
}

// B5
TEST_F(BadRegistries, B5_ATaggedIndexOutlivesTheCleanUpOfWhatIsUntagged) {
  for (bool api : {true, false}) {
    ScriptedRegistry registry({.takes_subject = api});
    if (!api) registry.Change([](RegistryScript& script) { script.referrers = RegistryScript::Referrers::kMissing; });
    const std::string name = Add(registry, image_);
    const CommandResult create = Create(name, {"--tag-index", "v1-soci"});
    ASSERT_EQ(create.exit_code, 0) << create.err;
    registry.DeleteUntagged(kRepo);
    EXPECT_THAT(Run({"list", name}).out, HasSubstr(DigestIn(create)));
    EXPECT_EQ(Run({"verify", name}).exit_code, 0);
    EXPECT_EQ(oci::Digest::Of(registry.Manifest(kRepo, "v1-soci")).ToString(), DigestIn(create));
  }
}

TEST_F(BadRegistries, B5_EachPlatformsIndexHasATagOfItsOwn) {
  ScriptedRegistry registry;
  oci::ImageIndex platforms{.media_type = std::string(oci::kMediaTypeImageIndex)};
  TestImage other = TestImage().Add(Layer(3));
  for (const auto& [image, architecture] : {std::pair{&image_, "amd64"}, std::pair{&other, "arm64"}}) {
    Add(registry, *image, std::string("only-") + architecture);
    oci::Descriptor entry{.media_type = std::string(oci::kMediaTypeManifest),
                          .digest = image->digest(),
                          .size = static_cast<int64_t>(image->Manifest().size())};
    entry.platform = oci::Platform{.architecture = architecture, .os = "linux"};
    platforms.manifests.push_back(entry);
  }
  registry.AddManifest(kRepo, "all", oci::kMediaTypeImageIndex, platforms.ToJson());
  const CommandResult create = Create(registry.host() + "/" + kRepo + ":all", {"--tag-index=soci"});
  ASSERT_EQ(create.exit_code, 0) << create.err;
  EXPECT_NE(registry.Manifest(kRepo, "soci-linux-amd64"), "");
  EXPECT_NE(registry.Manifest(kRepo, "soci-linux-arm64"), "");
}

TEST_F(BadRegistries, ATagThatCannotBeIsWrongUsage) {
  for (const char* tag : {"v1", "with/slash", ":"}) {
    const CommandResult create = Create("127.0.0.1:1/team/image:v1", {"--tag-index", tag});
    EXPECT_EQ(create.exit_code, 2) << tag << ": " << create.err;
  }
}

// B8
TEST_F(BadRegistries, B8_AServerThatIgnoresRangesCostsOneDownloadOfALayer) {
  ScriptedRegistry registry;
  const TestImage image = TestImage().Add(
      GzipLayer(TarBuilder().File("first", NoiseBytes(3 << 20, 1)).File("last", NoiseBytes(3 << 20, 2)).Finish()));
  const std::string name = Add(registry, image), layer = image.layers()[0].digest.ToString();
  ASSERT_EQ(Create(name).exit_code, 0);
  registry.Change([](RegistryScript& script) { script.ranges = RegistryScript::Ranges::kIgnored; });
  registry.registry().ForgetRequests();
  const std::string file = sandbox_ / "last";
  const CommandResult got = Run({"ztoc", "get-file", name, layer, "last", "-o", file});
  ASSERT_EQ(got.exit_code, 0) << got.err;
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(stream), {}) == NoiseBytes(3 << 20, 2));
  // The answer that showed the habit is cut; the download after it serves all spans of the file.
  EXPECT_LE(registry.Count("GET", "/blobs/" + layer), 2u);
}

// B12, and "the same for every kind of request": what containerd is told of a registry counts here too.
TEST_F(BadRegistries, B12_HostsTomlIsHonouredByEveryKindOfRequest) {
  ScriptedRegistry mirror, origin;
  Add(mirror, image_);
  Add(origin, image_);
  std::filesystem::create_directories(sandbox_ / "hosts/reg.example");
  std::ofstream(sandbox_ / "hosts/reg.example/hosts.toml") << fmt::format(
      "server = \"{}\"\n[host.\"{}\"]\ncapabilities = [\"pull\", \"resolve\"]\n[host.\"{}\".header]\n"
      "X-Mirror = \"yes\"\n",
      origin.registry().url(), mirror.registry().url(), mirror.registry().url());
  const std::string name = std::string("reg.example/") + kRepo + ":v1", hosts = sandbox_ / "hosts";
  const CommandResult create = Create(name, {"--hosts-dir", hosts});
  ASSERT_EQ(create.exit_code, 0) << create.err;
  for (const ImageLayer& layer : image_.layers()) {
    EXPECT_EQ(mirror.Count("GET", "/blobs/" + layer.digest.ToString()), 1u);
    EXPECT_EQ(origin.Count("GET", "/blobs/" + layer.digest.ToString()), 0u);
  }
  EXPECT_EQ(mirror.Count("PUT", ""), 0u);
  EXPECT_NE(origin.Manifest(kRepo, DigestIn(create)), "");
  for (const SeenRequest& request : mirror.Requests("GET", "/v2/team/")) {
    EXPECT_EQ(request.Header("x-mirror"), "yes") << request.target;
    EXPECT_EQ(request.Query("ns"), "reg.example") << request.target;
  }
  mirror.registry().Close();
  EXPECT_THAT(Run({"list", name, "--hosts-dir", hosts}).out, HasSubstr(DigestIn(create)));
  EXPECT_EQ(Run({"verify", name, "--hosts-dir", hosts}).exit_code, 0);
}

TEST_F(BadRegistries, WhatIsThereIsNotUploadedAgain) {
  ScriptedRegistry registry;
  const std::string name = Add(registry, image_);
  ASSERT_EQ(Create(name, {"--tag-index=soci"}).exit_code, 0);
  registry.registry().ForgetRequests();
  ASSERT_EQ(Create(name, {"--tag-index=soci"}).exit_code, 0);
  for (const char* method : {"POST", "PUT", "PATCH"}) EXPECT_EQ(registry.Count(method, ""), 0u) << method;
}

// H7, I7: a private registry, and nothing of its secrets in what is printed, whatever goes wrong (see Run).
TEST_F(BadRegistries, H7_I7_APrivateRegistryIsIndexedAndNoOutputTellsASecret) {
  ScriptedRegistry registry(
      {.auth = RegistryScript::Auth::kBearer, .users = {{"user", "secret-password"}}, .redirect_blobs = true});
  const std::string name = Add(registry, image_);
  LogIn(registry.host(), "user", "secret-password");
  ASSERT_EQ(Create(name).exit_code, 0);
  for (const SeenRequest& request : registry.Requests("", "/v2/team/")) {
    EXPECT_NE(request.Header("authorization"), "") << request.target;
  }
  registry.Change([](RegistryScript& script) {
    script.storage_troubles.push_back({.effect = [](Answer& answer) { answer.status = 404; }});
  });
  EXPECT_NE(Run({"verify", name}).exit_code, 0);
  LogIn(registry.host(), "user", "secret-of-another");
  EXPECT_EQ(Run({"verify", name}).exit_code, 4);
}

}  // namespace
}  // namespace soci::test
