// soci-index against Debian's docker-registry, which has no referrers API: the sha256- tag is kept by us.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/link/link.h"
#include "indexer/base/file_io.h"
#include "indexer/base/units.h"
#include "indexer/content/oci_layout.h"
#include "indexer/content/read_blob.h"
#include "indexer/index/layout_home.h"
#include "indexer/index/select_platforms.h"
#include "indexer/net/http_transport.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/base64.h"
#include "indexer/registry/distribution_client.h"
#include "tests/e2e/support/docker_registry.h"
#include "tests/e2e/support/image.h"
#include "tests/e2e/support/process.h"
#include "tests/e2e/support/sandbox.h"
#include "tests/support/memory_use.h"

namespace soci {
namespace {

using test::CommandResult;
using test::DockerRegistry;
using testing::HasSubstr;
using testing::StartsWith;

// A client of our own, to put images into the registry and to look at what is there.
class Client {
 public:
  explicit Client(const std::string& host) { repository = oci::Reference::Parse(host + "/team/image:v1").value(); }

  // Copies the image of a golden layout, one of a single platform, into the registry.
  void PushLayout(const std::string& folder) {
    auto layout = OciLayout::Open(folder).value();
    const oci::Descriptor image = layout->FindImages("").value().at(0);
    const std::string manifest = ReadBlob(*layout, image).value();
    const oci::Manifest parsed = oci::Manifest::Parse(manifest).value();
    std::vector<oci::Descriptor> blobs = parsed.layers;
    blobs.push_back(parsed.config);
    for (const oci::Descriptor& blob : blobs) {
      ASSERT_TRUE(registry->PushBlob(repository, blob, ReadBlob(*layout, blob, 1_GiB).value()).ok());
    }
    ASSERT_TRUE(registry->PushManifest(repository, repository.tag, image.media_type, manifest).ok());
  }

  std::unique_ptr<HttpTransport> transport = MakeCurlTransport();
  std::unique_ptr<CredentialProvider> credentials = MakeAnonymousCredentials();
  std::unique_ptr<RegistryClient> registry = MakeRegistryClient(*transport, *credentials);
  oci::Reference repository;
};

// What was resident at once so far; 0 if it is gone.
uint64_t PeakMemory(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
  }
  return 0;
}

uint64_t PeakUntilEnd(test::Process& process) {
  uint64_t peak = 0;
  const bool ended = test::WaitUntil(
      [&] {
        peak = std::max(peak, PeakMemory(process.pid()));
        return !process.Running();
      },
      std::chrono::seconds(100));
  EXPECT_TRUE(ended);
  EXPECT_GT(peak, 0u);
  return peak;
}

void ExpectBounded(uint64_t peak, uint64_t result) {
  if (!test::kMemoryIsOurs) return;
  EXPECT_LE(peak, 64_MiB + result);
}

class IndexProgram : public testing::Test {
 protected:
  CommandResult Run(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment = {}) {
    arguments.insert(arguments.begin(), SOCI_BINARY_DIR "/bin/soci-index");
    std::map<std::string, std::string> all = {{"DOCKER_CONFIG", sandbox.root() + "/docker"}, {"HOME", sandbox.root()}};
    for (const auto& [name, value] : environment) all[name] = value;
    return test::RunCommand(arguments, std::chrono::seconds(100), {.environment = all});
  }
  void ExpectFailure(const std::vector<std::string>& arguments, int code, const std::string& says) {
    const CommandResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("soci-index: "));
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  void LogIn(const std::string& host, const std::string& user, const std::string& password) {
    const std::string folder = sandbox.root() + "/docker";
    ASSERT_TRUE(MakeDirectories(folder).ok());
    ASSERT_TRUE(WriteFileAtomic(folder + "/config.json", fmt::format(R"({{"auths":{{"{}":{{"auth":"{}"}}}}}})", host,
                                                                     oci::EncodeBase64(user + ":" + password)))
                    .ok());
  }

  test::Sandbox sandbox;
};

constexpr char kIndexOfI01[] = "sha256:8fc12959556be3ae4a37ac7136f08f92a1302094bef44b567f2105a1ce89a219";
constexpr char kImageOfI01[] = "sha256:fc0b2b9b5f9d1dbf01198a02e3824bc9c6e467544151d0a8329a1165de9b3c11";
constexpr char kLayerOfI01[] = "sha256:32ee606b5f11db26a278ce4b031211e5a3e08a9417d165a7ce2aab241fc99b0b";

TEST_F(IndexProgram, AnImageInARegistryGetsTheGoldenIndexAndItIsFound) {
  DockerRegistry registry(sandbox);
  Client client(registry.host());
  client.PushLayout(SOCI_BINARY_DIR "/golden/images/i01-single-big");
  const std::string image = client.repository.ToString();
  ExpectFailure({"list", image}, 3, "has no SOCI index");
  const CommandResult create = Run({"create", image});
  EXPECT_EQ(create.exit_code, 0) << create.err;
  EXPECT_EQ(create.out, std::string(kIndexOfI01) + " linux/amd64\n");
  EXPECT_THAT(Run({"list", image}).out, HasSubstr(kIndexOfI01));
  const auto info = nlohmann::json::parse(Run({"info", "--json", image + "@" + kIndexOfI01}).out);
  EXPECT_EQ(info[0]["subject"], kImageOfI01);
  // Again: the same index, nothing pushed.
  registry.ForgetRequests();
  EXPECT_EQ(Run({"create", image}).out, create.out);
  for (const test::LoggedRequest& request : registry.LoggedRequests()) {
    EXPECT_NE(request.method, "POST") << request.path;
  }
}

TEST_F(IndexProgram, ReferrersOfOthersStayInTheTag) {
  DockerRegistry registry(sandbox);
  Client client(registry.host());
  client.PushLayout(SOCI_BINARY_DIR "/golden/images/i01-single-big");
  const std::string tag = "sha256-" + std::string(kImageOfI01).substr(7);
  const oci::Manifest other{
      .media_type = std::string(oci::kMediaTypeManifest),
      .config = {.media_type = "application/vnd.example.signature", .digest = oci::Digest::Of("{}"), .size = 2}};
  ASSERT_TRUE(client.registry->PushBlob(client.repository, other.config, "{}").ok());
  const std::string json = other.ToJson();
  const oci::Descriptor entry{.media_type = other.media_type,
                              .digest = oci::Digest::Of(json),
                              .size = static_cast<int64_t>(json.size()),
                              .artifact_type = other.config.media_type};
  ASSERT_TRUE(client.registry->PushManifest(client.repository, entry.digest.ToString(), entry.media_type, json).ok());
  const oci::ImageIndex listed{.media_type = std::string(oci::kMediaTypeImageIndex), .manifests = {entry}};
  ASSERT_TRUE(client.registry->PushManifest(client.repository, tag, oci::kMediaTypeImageIndex, listed.ToJson()).ok());
  ASSERT_EQ(Run({"create", client.repository.ToString()}).exit_code, 0);
  const auto document = client.registry->FetchManifest(client.repository, tag, {});
  const oci::ImageIndex after = oci::ImageIndex::Parse(document->body).value();
  ASSERT_EQ(after.manifests.size(), 2u);
  EXPECT_EQ(after.manifests[0], entry);
  EXPECT_EQ(after.manifests[1].digest.ToString(), kIndexOfI01);
  EXPECT_EQ(after.manifests[1].artifact_type, oci::kMediaTypeSociIndexV1);
}

TEST_F(IndexProgram, EachKindOfTroubleHasItsCodeAndOneLine) {
  DockerRegistry registry(sandbox);
  Client client(registry.host());
  client.PushLayout(SOCI_BINARY_DIR "/golden/images/i01-single-big");
  const std::string host = registry.host();
  ExpectFailure({"create", host + "/team/image:other"}, 3, "other");
  ExpectFailure({"create", host + "/team/nothing:v1"}, 3, "nothing");
  ExpectFailure({"create", host + "/team/image@sha256:" + std::string(64, 'a')}, 3, std::string(64, 'a'));
  ExpectFailure({"create", host + "/team/image:v1@sha256:" + std::string(64, 'a')}, 3, std::string(64, 'a'));
  ExpectFailure({"info", host + "/team/image@sha256:" + std::string(64, 'b')}, 3, std::string(64, 'b'));
  // An artifact is no image.
  const oci::Manifest chart{
      .media_type = std::string(oci::kMediaTypeManifest),
      .config = {.media_type = "application/vnd.example.chart", .digest = oci::Digest::Of("{}"), .size = 2}};
  ASSERT_TRUE(client.registry->PushBlob(client.repository, chart.config, "{}").ok());
  ASSERT_TRUE(client.registry->PushManifest(client.repository, "chart", oci::kMediaTypeManifest, chart.ToJson()).ok());
  ExpectFailure({"create", host + "/team/image:chart"}, 6, "not an image");
  registry.Stop();
  ExpectFailure({"create", host + "/team/image:v1"}, 5, host);
}

TEST_F(IndexProgram, WrongCredentialsAreCode4AndRightOnesWork) {
  DockerRegistry open(sandbox);
  Client client(open.host());
  client.PushLayout(SOCI_BINARY_DIR "/golden/images/i01-single-big");
  open.Stop();
  // The same storage, behind a password.
  const std::string password = "a:b:c==";
  DockerRegistry closed(sandbox, {.htpasswd = test::HtpasswdLine("AWS", password)});
  const std::string image = closed.host() + "/team/image:v1";
  ExpectFailure({"create", image}, 4, closed.host());
  LogIn(closed.host(), "AWS", "wrong");
  ExpectFailure({"create", image}, 4, closed.host());
  LogIn(closed.host(), "AWS", password);
  const CommandResult create = Run({"create", image});
  EXPECT_EQ(create.out, std::string(kIndexOfI01) + " linux/amd64\n") << create.err;
  EXPECT_EQ(Run({"list", image}).exit_code, 0);
}

// Field report A15: a layer of 200 MiB with 8 MiB of disk, none of which is used, and bounded memory. With small spans
// the index is as large as half the layer, and still is in memory once.
TEST_F(IndexProgram, ALargeLayerIsReadOnceAndStoredNowhere) {
  DockerRegistry registry(sandbox);
  constexpr uint64_t kLayerSize = 200_MiB;
  const std::string tar = test::TarBuilder().File("noise", test::NoiseBytes(kLayerSize, 1)).Finish();
  test::TestImage image;
  image.Add(test::GzipLayer(tar, 0));
  const std::string name = image.Push(registry, "team/image", "v1");
  const std::string digest = image.layers()[0].digest.ToString();
  for (const char* span_size : {"4MiB", "64KiB"}) {
    SCOPED_TRACE(span_size);
    registry.ForgetRequests();
    // All that it might take for a place to write is a small file system that only it sees. With a file size limit the
    // first byte beyond it ends the program; the limit is for its report, which is a file here.
    const std::string disk = sandbox / "disk", log = sandbox / (std::string("report-") + span_size);
    ASSERT_TRUE(MakeDirectories(disk).ok());
    test::Process create(
        {"unshare", "-m", "sh", "-c",
         "mount -t tmpfs -o size=8m disk \"$1\" && cd \"$1\" && ulimit -f 8 && shift && exec \"$@\"", "sh", disk,
         SOCI_BINARY_DIR "/bin/soci-index", "create", "--json", "--quiet", "--span-size", span_size, name},
        log, {.environment = {{"HOME", disk}, {"TMPDIR", disk}, {"XDG_CACHE_HOME", disk}}});
    const uint64_t peak = PeakUntilEnd(create);
    const std::string out = ReadFile(create.log()).value();
    ASSERT_EQ(create.Wait(std::chrono::seconds(1)), 0) << out;
    uint64_t read = 0;
    for (const test::LoggedRequest& request : registry.BlobGets(digest)) read += request.bytes;
    EXPECT_LE(read, image.layers()[0].blob.size() * 105 / 100);
    const auto report = nlohmann::json::parse(out);
    ExpectBounded(peak, report["platforms"][0]["layers"][0]["ztoc_size"]);
    RecordProperty(std::string("peak_memory_mib_") + span_size, static_cast<int>(peak >> 20));
  }
}

// The same of a layer whose index is nearly all names, however it is asked for and wherever it goes.
TEST_F(IndexProgram, TheEntriesOfALayerOfVeryManyFilesAreInMemoryOnce) {
  test::TarBuilder tar;
  for (int i = 0; i < 300'000; ++i) {
    tar.File(fmt::format("opt/lib/python3/site-packages/package{}/file{}.py", i / 100, i % 100), "x");
  }
  test::TestImage image;
  image.Add(test::GzipLayer(tar.Finish(), 1));
  const std::string layout = sandbox / "layout", archive = sandbox / "archive.tar", cache = sandbox / "cache";
  image.WriteLayout(layout, "v1");
  ASSERT_TRUE(test::RunCommand({"tar", "-cf", archive, "-C", layout, "."}).ok());
  const std::vector<std::vector<std::string>> runs = {
      {"oci:" + layout},
      {"oci:" + layout, "--verify"},  // the second finds its zTOC stored
      {"oci-archive:" + archive},
      {"oci-archive:" + archive},
      {"oci:" + layout, "--cache", cache},
      {"oci:" + layout, "--cache", cache},
  };
  for (size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(testing::PrintToString(runs[i]));
    std::vector<std::string> arguments = {
        SOCI_BINARY_DIR "/bin/soci-index", "create", "--json", "--quiet", "--min-layer-size", "0"};
    arguments.insert(arguments.end(), runs[i].begin(), runs[i].end());
    test::Process create(arguments, sandbox / fmt::format("report-{}", i));
    const uint64_t peak = PeakUntilEnd(create);
    const std::string out = ReadFile(create.log()).value();
    ASSERT_EQ(create.Wait(std::chrono::seconds(1)), 0) << out;
    const auto layer = nlohmann::json::parse(out)["platforms"][0]["layers"][0];
    EXPECT_EQ(layer["entries"], 300'000);
    ExpectBounded(peak, layer["ztoc_size"]);
  }
}

// However many files: proving and finding again take no more than making, entry by entry out of the zTOC.
TEST_F(IndexProgram, AnIndexIsProvedAndFoundAgainWithoutItsEntriesInMemory) {
  constexpr int kFiles = 900'000;
  test::TarBuilder tar;
  for (int i = 0; i < kFiles; ++i) tar.File(fmt::format("opt/lib/site-packages/package{}/{}.py", i / 100, i % 100), "");
  test::TestImage image;
  image.Add(test::GzipLayer(tar.Finish(), 1));
  const std::string layout = sandbox / "layout", cache = sandbox / "cache";
  image.WriteLayout(layout, "v1");
  const std::vector<std::vector<std::string>> runs = {
      {"create", "--min-layer-size", "0", "--cache", cache, "oci:" + layout},
      {"create", "--min-layer-size", "0", "--cache", cache, "oci:" + layout},
      {"create", "--min-layer-size", "0", "--verify", "oci:" + layout},
      {"verify", "oci:" + layout},
  };
  uint64_t ztoc_size = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(testing::PrintToString(runs[i]));
    std::vector<std::string> arguments = {SOCI_BINARY_DIR "/bin/soci-index", runs[i][0], "--json", "--quiet"};
    arguments.insert(arguments.end(), runs[i].begin() + 1, runs[i].end());
    test::Process run(arguments, sandbox / fmt::format("report-{}", i));
    const uint64_t peak = PeakUntilEnd(run);
    const std::string out = ReadFile(run.log()).value();
    ASSERT_EQ(run.Wait(std::chrono::seconds(1)), 0) << out;
    const auto report = nlohmann::json::parse(out);
    const auto layer = (report.is_array() ? report[0] : report["platforms"][0])["layers"][0];
    EXPECT_EQ(layer["entries"], kFiles);
    if (layer.contains("ztoc_size")) ztoc_size = layer["ztoc_size"];
    ExpectBounded(peak, ztoc_size);
  }
}

// Field report A25: two images share a layer; the second build does not read it and gives what a fresh build gives.
TEST_F(IndexProgram, ALayerThatWasIndexedBeforeIsNotReadAgain) {
  DockerRegistry registry(sandbox);
  const test::ImageLayer shared = test::GzipLayer(test::TarBuilder().File("a", test::ProseBytes(20_MiB, 1)).Finish());
  test::TestImage one, two;
  one.Add(shared);
  two.Add(shared).Add(test::GzipLayer(test::TarBuilder().File("b", test::ProseBytes(1_MiB, 2)).Finish()));
  const std::string first = one.Push(registry, "team/one", "v1"), second = two.Push(registry, "team/two", "v1");
  const std::vector<std::string> options = {"create", "--min-layer-size", "0", "--cache", sandbox / "cache"};
  auto with = [&](const std::string& image) {
    std::vector<std::string> arguments = options;
    arguments.push_back(image);
    return arguments;
  };
  ASSERT_EQ(Run(with(first)).exit_code, 0);
  registry.ForgetRequests();
  const CommandResult cached = Run(with(second));
  ASSERT_EQ(cached.exit_code, 0) << cached.err;
  EXPECT_TRUE(registry.BlobGets(shared.digest.ToString()).empty());
  EXPECT_EQ(Run({"create", "--min-layer-size", "0", second}).out, cached.out);
  // What is damaged counts as not there.
  for (const auto& entry : std::filesystem::directory_iterator(sandbox / "cache")) {
    std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) - 1);
  }
  EXPECT_EQ(Run(with(second)).out, cached.out);
}

// Field report A23: one blob three times, in one image and beside others.
TEST_F(IndexProgram, ALayerThatIsListedThreeTimesIsReadOnce) {
  DockerRegistry registry(sandbox);
  const test::ImageLayer layer = test::GzipLayer(test::TarBuilder().File("a", test::ProseBytes(2_MiB, 1)).Finish());
  const test::ImageLayer empty = test::GzipLayer(test::TarBuilder().Finish());
  test::TestImage image;
  image.Add(empty).Add(layer).Add(empty).Add(layer).Add(layer);
  const std::string name = image.Push(registry, "team/image", "v1");
  registry.ForgetRequests();
  const CommandResult create = Run({"create", "--json", "--min-layer-size", "0", name});
  ASSERT_EQ(create.exit_code, 0) << create.err;
  uint64_t read = 0;
  for (const test::LoggedRequest& request : registry.BlobGets(layer.digest.ToString())) read += request.bytes;
  EXPECT_EQ(read, layer.blob.size());
  EXPECT_EQ(nlohmann::json::parse(create.out)["platforms"][0]["layers"].size(), 5u);
  EXPECT_EQ(Run({"verify", name}).exit_code, 0);
}

TEST_F(IndexProgram, ABrokenConnectionIsTakenUpWhereItBroke) {
  DockerRegistry registry(sandbox);
  auto link = Link::Start({.upstream_port = registry.port(), .connection_bytes_per_second = 20_MiB}).value();
  Client client(registry.host());
  client.PushLayout(SOCI_BINARY_DIR "/golden/images/i01-single-big");
  link->GoDownAfter(4_MiB);
  std::thread healer([&] {
    // Down once, then up again for good.
    test::WaitUntil([&] { return link->counters().bytes_down >= 3_MiB && link->counters().open_connections == 0; });
    link->GoDownAfter(-1);
    link->SetDown(false);
  });
  const CommandResult create = Run({"create", fmt::format("127.0.0.1:{}/team/image:v1", link->port())});
  healer.join();
  EXPECT_EQ(create.out, std::string(kIndexOfI01) + " linux/amd64\n") << create.err;
  EXPECT_LT(link->counters().bytes_down, 22_MiB);
}

TEST_F(IndexProgram, ARegistryThatGoesAwayInTheMiddleLeavesNothingListed) {
  DockerRegistry registry(sandbox);
  Client client(registry.host());
  client.PushLayout(SOCI_BINARY_DIR "/golden/images/i01-single-big");
  auto link = Link::Start({.upstream_port = registry.port()}).value();
  link->GoDownAfter(4_MiB);
  const CommandResult create = Run({"create", fmt::format("127.0.0.1:{}/team/image:v1", link->port())});
  EXPECT_EQ(create.exit_code, 5) << create.err;
  EXPECT_EQ(create.out, "");
  EXPECT_THAT(create.err, HasSubstr(std::string("layer ") + kLayerOfI01));
  const auto referrers = client.registry->FindReferrers(client.repository, oci::Digest::Parse(kImageOfI01).value(),
                                                        oci::kMediaTypeSociIndexV1, {});
  ASSERT_TRUE(referrers.ok());
  EXPECT_TRUE(referrers->empty());
}

}  // namespace
}  // namespace soci
