// I7, on the whole product: a private registry, everything at debug level, and nothing of its password anywhere.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "indexer/oci/base64.h"
#include "tests/e2e/support/http.h"
#include "tests/e2e/support/lazy_start.h"
#include "tests/support/free_port.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;

constexpr char kUser[] = "robot";
constexpr char kPassword[] = "Hidden-pass:word==";

std::string ReadWhole(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The command lines of a process and its children; they end with zeros, which no comparison minds.
std::string CommandLines(pid_t pid) {
  std::string all = ReadWhole("/proc/" + std::to_string(pid) + "/cmdline");
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::istringstream children(ReadWhole(task.path() / "children"));
    for (pid_t child = 0; children >> child;) all += "\n" + ReadWhole("/proc/" + std::to_string(child) + "/cmdline");
  }
  return all;
}

class Private : public LazyStart {
 protected:
  Private() : Private("127.0.0.1:" + std::to_string(FreePort())) {}
  explicit Private(const std::string& metrics)
      : LazyStart({"--service.metrics=" + metrics, "--fetch.fill=false", "--registry.read_retry_budget=2s"}),
        metrics_(metrics) {}

  // The registry's storage behind a password.
  std::unique_ptr<DockerRegistry> Lock(const std::string& password) {
    return std::make_unique<DockerRegistry>(sandbox_, DockerRegistryOptions{.htpasswd = HtpasswdLine(kUser, password)});
  }
  // As `docker login` leaves it, for the daemon and for the programs.
  void LogIn(const std::string& host) {
    const std::string config = R"({"auths":{")" + host + R"(":{"auth":")" +
                               oci::EncodeBase64(std::string(kUser) + ":" + kPassword) + R"("}}})";
    std::filesystem::create_directories(sandbox_ / "docker");
    std::ofstream(sandbox_ / "docker/config.json") << config;
    std::ofstream(sandbox_ / "daemon/docker.json") << config;
  }
  void Note(const CommandResult& result) { seen_ += result.out + result.err; }
  void NoteAll() {
    seen_ += daemon_.Log() + CommandLines(daemon_.pid());
    seen_ += HttpRequest("GET", "http://" + metrics_ + "/metrics").body;
    Note(RunCommand(
        {Daemon::Program("soci-snapshotter"), "status", "--json", "--socket", daemon_.run() + "/admin.sock"}));
  }

  const std::string metrics_;
  std::string seen_;
};

// I7
TEST_F(Private, I7_NothingThatAnybodyCanReadHoldsThePassword) {
  const TestImage image = TestImage()
                              .Add(GzipLayer(BusyboxTar().Finish()))
                              .Add(GzipLayer(TarBuilder().File("noise", NoiseBytes(2 << 20, 1)).Finish()));
  Push(image, "app");
  registry_.Stop();
  std::unique_ptr<DockerRegistry> locked = Lock(kPassword);
  const std::string host = locked->host(), reference = host + "/app:v1";
  LogIn(host);
  daemon_.UsePlainHttp(host);
  const ProcessOptions environment{.environment = {{"DOCKER_CONFIG", sandbox_ / "docker"}}};
  const CommandResult create =
      RunCommand({Daemon::Program("soci-index"), "create", "--min-layer-size=0", "--span-size=64KiB", reference},
                 std::chrono::seconds(60), environment);
  EXPECT_EQ(Failure(create), "");
  Note(create);
  const std::vector<std::string> pull = {Daemon::Program("soci-snapshotter"),
                                         "pull",
                                         "--plain-http",
                                         "--containerd",
                                         containerd_.address(),
                                         "--namespace",
                                         containerd_.name_space(),
                                         reference};
  const CommandResult pulled = RunCommand(pull, std::chrono::seconds(60), environment);
  EXPECT_EQ(Failure(pulled), "") << daemon_.Log();
  Note(pulled);
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "c1", {"sleep", "1000"})), "");
  EXPECT_TRUE(containerd_.Exec("c1", {"dd", "if=/noise", "of=/dev/null", "bs=64k", "count=1"}).ok());
  NoteAll();

  // The password is changed: reads fail, and say so without it.
  const uint16_t port = locked->port();
  locked.reset();
  std::unique_ptr<DockerRegistry> changed = std::make_unique<DockerRegistry>(
      sandbox_, DockerRegistryOptions{.htpasswd = HtpasswdLine(kUser, "another"), .port = port});
  EXPECT_FALSE(containerd_.Exec("c1", {"dd", "if=/noise", "of=/dev/null", "bs=64k", "skip=20"}).ok());
  NoteAll();
  Note(RunCommand(pull, std::chrono::seconds(60), environment));
  containerd_.RemoveContainer("c1");

  // What was looked through is what was meant.
  EXPECT_THAT(seen_, HasSubstr("is mounted lazily"));
  EXPECT_THAT(seen_, HasSubstr("soci_index_searches_total{result=\"found\"} 1"));
  EXPECT_THAT(seen_, HasSubstr("no credentials that the registry accepts"));
  EXPECT_THAT(seen_, HasSubstr(daemon_.Program("soci-snapshotter")));
  for (const std::string& secret : {std::string(kPassword), oci::EncodeBase64(std::string(kUser) + ":" + kPassword),
                                    std::string("Authorization")}) {
    EXPECT_EQ(seen_.find(secret), std::string::npos) << seen_.substr(std::min(seen_.find(secret), seen_.size()), 200);
  }
}

}  // namespace
}  // namespace soci::test
