// What can be wrong with what a user gives to soci-snapshotter: each case has its exit code and one line that names it.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/e2e/support/lazy_start.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;

constexpr int kFailed = 1, kUsage = 2, kNotFound = 3, kAuthentication = 4, kNetwork = 5, kBadData = 6;

class Trouble : public EndToEnd {
 protected:
  void ExpectFailure(const CommandResult& result, int code, const std::string& names) {
    EXPECT_EQ(result.exit_code, code) << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr(names));
    // Besides what a pull tells of its progress.
    size_t lines = 0;
    for (size_t at = result.err.find("soci-snapshotter: "); at != std::string::npos; ++lines) {
      at = result.err.find("soci-snapshotter: ", at + 1);
    }
    EXPECT_EQ(lines, 1u) << result.err;
    EXPECT_EQ(result.err.find("soci-snapshotter: "), result.err.rfind('\n', result.err.size() - 2) + 1) << result.err;
    EXPECT_EQ(containerd_.Ctr({"images", "ls", "-q"}).out, "");
    EXPECT_EQ(containerd_.Ctr({"leases", "ls", "-q"}).out, "");
  }
  CommandResult Pull(const std::string& reference) {
    return RunCommand({Daemon::Program("soci-snapshotter"), "pull", "--plain-http", "--snapshotter", "overlayfs",
                       "--hosts-dir", sandbox_ / "none", "--containerd", containerd_.address(), "--namespace",
                       containerd_.name_space(), "--patience", "1", reference},
                      std::chrono::minutes(2));
  }
  CommandResult Serve(std::vector<std::string> flags, std::vector<std::string> before = {}) {
    std::vector<std::string> line = std::move(before);
    line.insert(line.end(), {Daemon::Program("soci-snapshotter"), "serve", "--paths.state=" + (sandbox_ / "state"),
                             "--paths.run=" + (sandbox_ / "run"), "--service.metrics=", "--log.level=error"});
    line.insert(line.end(), flags.begin(), flags.end());
    return RunCommand(line);
  }
  TestImage Image() { return TestImage().Add(GzipLayer(BusyboxTar().Finish())); }
};

TEST_F(Trouble, OfReferencesAndRegistries) {
  Image().Push(registry_, "app", "v1");
  ExpectFailure(Pull("Not A Reference"), kUsage, "Not A Reference");
  ExpectFailure(Pull(registry_.host() + "/app:v2"), kNotFound, registry_.host() + "/app:v2");
  ExpectFailure(Pull(registry_.host() + "/other:v1"), kNotFound, "/other:v1");
  DockerRegistry locked(sandbox_, {.folder = "locked", .htpasswd = HtpasswdLine("user", "password")});
  ExpectFailure(Pull(locked.host() + "/app:v1"), kAuthentication, locked.host());
  locked.Stop();
  ExpectFailure(Pull(locked.host() + "/app:v1"), kNetwork, locked.host());
}

TEST_F(Trouble, OfWhatIsThereInsteadOfAnImage) {
  const std::string json = R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",)";
  PushBlob(registry_, "odd", "{}");
  const std::string config = R"("config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":")" +
                             oci::Digest::Of("{}").ToString() + R"(","size":2})";
  // An artifact: its config is no image's.
  PushManifest(registry_, "odd", "artifact", "application/vnd.oci.image.manifest.v1+json",
               json + config + R"(,"layers":[]})");
  ExpectFailure(Pull(registry_.host() + "/odd:artifact"), kBadData, "odd:artifact");
  // A layer whose bytes are not those of its digest's tar.
  TestImage image = Image();
  ImageLayer layer = GzipLayer(TarBuilder().File("f", "f").Finish());
  layer.diff_id = oci::DiffId(oci::Digest::Of("another"));
  image.Add(layer).Push(registry_, "false", "v1");
  ExpectFailure(Pull(registry_.host() + "/false:v1"), kBadData, layer.digest.ToString());
}

TEST_F(Trouble, OfTheDaemonsStart) {
  ExpectFailure(Serve({"--no.such.key=1"}), kUsage, "no.such.key");
  ExpectFailure(Serve({"--fetch.fill_range=many"}), kUsage, "fetch.fill_range");
  ExpectFailure(Serve({"--config", sandbox_ / "none.toml"}), kNotFound, sandbox_ / "none.toml");
  std::ofstream(sandbox_ / "config.toml") << "[fetch]\nfil = true\n";
  ExpectFailure(Serve({"--config", sandbox_ / "config.toml"}), kUsage, "config.toml:2");
  ExpectFailure(Serve({}, {"setpriv", "--reuid=65534", "--clear-groups"}), kFailed, "root");
  const Daemon daemon(sandbox_);
  ExpectFailure(Serve({}), kFailed, sandbox_ / "run");
  // The one that has the directories goes on.
  EXPECT_EQ(daemon.Layers().size(), 0u);
}

TEST_F(Trouble, OfVerbsWithoutADaemonOrContainerd) {
  const std::string program = Daemon::Program("soci-snapshotter");
  ExpectFailure(RunCommand({program, "status", "--socket", sandbox_ / "none.sock"}), kNetwork, "none.sock");
  ExpectFailure(RunCommand({program, "pull", "--plain-http", "--containerd", sandbox_ / "none.sock",
                            Image().Push(registry_, "app", "v1")}),
                kNetwork, "none.sock");
}

}  // namespace
}  // namespace soci::test
