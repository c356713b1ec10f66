// Tokens and credentials: whose, how many, and what happens when they end.
#include <fstream>
#include <set>
#include <thread>

#include "indexer/oci/annotations.h"
#include "indexer/oci/base64.h"
#include "indexer/registry/docker_config.h"
#include "tests/faults/registry/scenario.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;
using Auth = RegistryScript::Auth;

constexpr char kRepo[] = "team/image";
constexpr char kUser[] = "user";
constexpr char kPassword[] = "secret-password";

RegistryScript Bearer() { return {.auth = Auth::kBearer, .users = {{kUser, kPassword}}}; }
RegistryScript Basic() { return {.auth = Auth::kBasic, .users = {{kUser, kPassword}}}; }

// Answers with one list after the other, the last one for ever.
class ScriptedCredentials : public CredentialProvider {
 public:
  explicit ScriptedCredentials(std::vector<std::vector<Credential>> answers) : answers_(std::move(answers)) {}
  CredentialAnswer Find(const CredentialQuery&) override {
    std::lock_guard lock(mutex_);
    size_t index = std::min(calls_++, answers_.size() - 1);
    return {answers_[index], true, ""};
  }
  size_t calls() const {
    std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  mutable std::mutex mutex_;
  const std::vector<std::vector<Credential>> answers_;
  size_t calls_ = 0;
};

TEST(Auth, B18_TwentyImagesOfTenLayersCostTwoTokenRequests) {
  ScriptedRegistry registry(Bearer());
  Machine machine(MakeStaticCredentials(UserAndPassword(kUser, kPassword)));
  std::vector<std::pair<std::unique_ptr<ByteSource>, std::string>> layers;
  for (int image = 0; image < 20; ++image) {
    std::string repository = "team/image" + std::to_string(image);
    for (int layer = 0; layer < 10; ++layer) {
      std::string bytes = PatternBytes(5000, static_cast<uint32_t>(image * 10 + layer));
      layers.emplace_back(machine.Open(registry, repository, registry.AddBlob(repository, bytes)), bytes);
    }
  }
  // Started together: the first token is not there before the last read has begun.
  Gate started;
  registry.Change([&](RegistryScript& script) {
    script.troubles.push_back({.part = "/token", .effect = [&](Answer&) { started.Wait(); }});
  });
  std::vector<std::shared_ptr<KeepingSink>> sinks;
  for (auto& [source, bytes] : layers) {
    sinks.push_back(std::make_shared<KeepingSink>());
    source->StartRead(0, bytes.size(), {}, sinks.back());
  }
  // One thread begins all reads in their order: when one that needs no token has ended, the others wait for theirs.
  ScriptedRegistry open;
  const std::string last = PatternBytes(5000, 200);
  EXPECT_TRUE(ReadPart(*machine.Open(open, "team/open", open.AddBlob("team/open", last)), 0, last.size()) == last);
  started.Open();
  for (size_t i = 0; i < layers.size(); ++i) EXPECT_TRUE(sinks[i]->Wait().value_or("") == layers[i].second);
  EXPECT_LE(registry.Count("GET", "/token"), 2u);
  EXPECT_EQ(registry.Count("GET", "/blobs/"), 200u) << "no read is refused first";
}

TEST(Auth, B18_ATokenServerThatKnowsOneScopeIsAskedForEach) {
  RegistryScript script = Bearer();
  script.several_scopes = false;
  ScriptedRegistry registry(script);
  Machine machine(MakeStaticCredentials(UserAndPassword(kUser, kPassword)));
  std::vector<std::thread> pulls;
  for (int image = 0; image < 8; ++image) {
    pulls.emplace_back([&, image] {
      std::string repository = "team/image" + std::to_string(image),
                  bytes = PatternBytes(5000, static_cast<uint32_t>(image));
      oci::Descriptor blob = registry.AddBlob(repository, bytes);
      EXPECT_TRUE(ReadPart(*machine.Open(registry, repository, blob), 0, 5000) == bytes);
    });
  }
  for (std::thread& pull : pulls) pull.join();
}

TEST(Auth, B18_TwoIdentitiesNeverShareAToken) {
  RegistryScript script = Bearer();
  script.users["other"] = "secret-other";
  ScriptedRegistry registry(script);
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(5000));
  Machine one(MakeStaticCredentials(UserAndPassword(kUser, kPassword)));
  Machine two(MakeStaticCredentials(UserAndPassword("other", "secret-other")));
  for (int i = 0; i < 5; ++i) {
    ReadPart(*one.Open(registry, kRepo, blob), 0, 100);
    ReadPart(*two.Open(registry, kRepo, blob), 0, 100);
  }
  std::map<std::string, std::string> user_of;  // a token's user
  for (const SeenRequest& request : registry.Requests("GET", "/token")) user_of[request.Query("account")] += "x";
  EXPECT_EQ(user_of, (std::map<std::string, std::string>{{kUser, "x"}, {"other", "x"}}));
  std::set<std::string> tokens;
  for (const SeenRequest& request : registry.Requests("GET", "/blobs/")) tokens.insert(request.Header("authorization"));
  EXPECT_EQ(tokens.size(), 2u);
}

TEST(Auth, OneRefreshServesManyWaiters) {
  ScriptedRegistry registry(Bearer());
  std::string bytes = PatternBytes(64'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  Machine machine(MakeStaticCredentials(UserAndPassword(kUser, kPassword)));
  auto source = machine.Open(registry, kRepo, blob);
  ReadPart(*source, 0, 100);
  registry.ExpireTokens();
  std::vector<std::thread> readers;
  for (int i = 0; i < 32; ++i) {
    readers.emplace_back([&, i] { EXPECT_TRUE(ReadPart(*source, i * 2000, 2000) == bytes.substr(i * 2000, 2000)); });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(registry.Count("GET", "/token"), 2u);
}

TEST(Auth, ATokenIsRenewedBeforeItExpires) {
  ScriptedRegistry registry(Bearer());
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(5000));
  Machine machine(MakeStaticCredentials(UserAndPassword(kUser, kPassword)));
  auto source = machine.Open(registry, kRepo, blob);
  ReadPart(*source, 0, 100);
  machine.clock().Advance(std::chrono::seconds(200));
  ReadPart(*source, 0, 100);
  EXPECT_EQ(registry.Count("GET", "/token"), 1u);
  registry.ExpireTokens();
  machine.clock().Advance(std::chrono::seconds(50));  // 250 of 300 s
  ReadPart(*source, 0, 100);
  EXPECT_EQ(registry.Count("GET", "/token"), 2u);
  for (const SeenRequest& request : registry.Requests("GET", "/blobs/")) EXPECT_EQ(request.status, 206);
}

TEST(Auth, ATokenThatEndsEarlyIsReplacedWhateverTheRegistryAnswers) {
  for (int expired : {401, 403}) {
    RegistryScript script = Bearer();
    script.expired_status = expired;
    script.token_uses = 3;
    ScriptedRegistry registry(script);
    std::string bytes = PatternBytes(50'000);
    oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
    Machine machine(MakeStaticCredentials(UserAndPassword(kUser, kPassword)));
    auto source = machine.Open(registry, kRepo, blob);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(ReadPart(*source, i * 1000, 1000) == bytes.substr(i * 1000, 1000));
  }
}

TEST(Auth, H1_ABasicPasswordThatExpiredWith403IsAskedForAgain) {
  RegistryScript script = Basic();
  script.users = {{"AWS", "secret-first"}};
  script.expired_status = 403;
  ScriptedRegistry registry(script);
  std::string bytes = PatternBytes(5000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  auto provider = std::make_unique<ScriptedCredentials>(std::vector<std::vector<Credential>>{
      {UserAndPassword("AWS", "secret-first")}, {UserAndPassword("AWS", "secret-second")}});
  ScriptedCredentials* credentials = provider.get();
  Machine machine(std::move(provider));
  auto source = machine.Open(registry, kRepo, blob);
  ReadPart(*source, 0, 100);
  registry.Change([](RegistryScript& changed) { changed.users = {{"AWS", "secret-second"}}; });
  EXPECT_TRUE(ReadPart(*source, 100, 100) == bytes.substr(100, 100));
  EXPECT_EQ(credentials->calls(), 2u);
}

TEST(Auth, H4_AnExpiredAnswerOfAHelperIsFollowedByASecondQuestion) {
  for (const RegistryScript& script : {Bearer(), Basic()}) {
    ScriptedRegistry registry(script);
    oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(5000));
    auto provider = std::make_unique<ScriptedCredentials>(std::vector<std::vector<Credential>>{
        {UserAndPassword(kUser, "secret-expired")}, {UserAndPassword(kUser, kPassword)}});
    Machine machine(std::move(provider));
    ReadPart(*machine.Open(registry, kRepo, blob), 0, 100);
  }
}

TEST(Auth, H5_AWrongEntryInOneSourceDoesNotHideTheNext) {
  for (const RegistryScript& script : {Bearer(), Basic()}) {
    ScriptedRegistry registry(script);
    oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(5000));
    std::vector<std::unique_ptr<CredentialProvider>> sources;
    sources.push_back(MakeStaticCredentials(UserAndPassword(kUser, "secret-stale")));
    sources.push_back(MakeStaticCredentials(UserAndPassword(kUser, kPassword)));
    Machine machine(MakeChainedCredentials(std::move(sources)));
    ::testing::internal::CaptureStderr();
    for (int i = 0; i < 5; ++i) ReadPart(*machine.Open(registry, kRepo, blob), 0, 100);
    std::string log = ::testing::internal::GetCapturedStderr();
    size_t first = log.find("refused");
    EXPECT_NE(first, std::string::npos) << log;
    EXPECT_EQ(log.find("refused", first + 1), std::string::npos) << "one warning: " << log;
  }
}

TEST(Auth, H6_OddUserNamesAndPasswordsWork) {
  for (auto [name, password] : {std::pair{"AWS", "a:b:c=="}, {"me@example.com", "p@ss:"}, {"user", "\xc3\xa4\"\\"}}) {
    for (Auth auth : {Auth::kBasic, Auth::kBearer}) {
      RegistryScript script{.auth = auth, .users = {{name, password}}};
      ScriptedRegistry registry(script);
      oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(5000));
      TemporaryDirectory folder;
      std::string encoded = oci::EncodeBase64(std::string(name) + ":" + password);
      std::ofstream(folder / "config.json")
          << R"({"auths":{")" << registry.host() << R"(":{"auth":")" << encoded << R"("}}})";
      Machine machine(MakeDockerConfigCredentials({.path = folder / "config.json"}));
      ReadPart(*machine.Open(registry, kRepo, blob), 0, 100);
    }
  }
}

TEST(Auth, H6_AnIdentityTokenIsSpentForAToken) {
  RegistryScript script{.auth = Auth::kBearer, .identity_tokens = {"secret-refresh"}};
  ScriptedRegistry registry(script);
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(5000));
  TemporaryDirectory folder;
  std::ofstream(folder / "config.json") << R"({"auths":{")" << registry.host()
                                        << R"(":{"identitytoken":"secret-refresh"}}})";
  Machine machine(MakeDockerConfigCredentials({.path = folder / "config.json"}));
  ReadPart(*machine.Open(registry, kRepo, blob), 0, 100);
  EXPECT_EQ(registry.Count("POST", "/token"), 1u);
}

TEST(Auth, H7_EveryPathCarriesTheCredentials) {
  for (const RegistryScript& script : {Bearer(), Basic()}) {
    ScriptedRegistry registry(script);
    oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(5000));
    oci::Descriptor manifest = registry.AddManifest(kRepo, "latest", oci::kMediaTypeManifest, R"({"schemaVersion":2})");
    Machine machine(MakeStaticCredentials(UserAndPassword(kUser, kPassword)));
    oci::Reference repository = registry.Reference(kRepo);
    EXPECT_TRUE(machine.client().FetchManifest(repository, "latest", {}).ok());
    EXPECT_TRUE(machine.client().FetchBlob(repository, blob, {}).ok());
    EXPECT_TRUE(machine.client().FindReferrers(repository, manifest.digest, "a/b", {}).ok());
    ReadPart(*machine.Open(registry, kRepo, blob), 10, 10);
    std::string pushed = "pushed";
    EXPECT_TRUE(machine.client().PushBlob(repository, registry.AddBlob("elsewhere", pushed), pushed).ok());
    EXPECT_TRUE(
        machine.client().PushManifest(repository, "v2", oci::kMediaTypeManifest, R"({"schemaVersion":2})").ok());
    for (const SeenRequest& request : registry.Requests("", "/v2/" + std::string(kRepo))) {
      EXPECT_NE(request.Header("authorization"), "") << request.target;
      EXPECT_NE(request.status, 401) << request.target;
    }
  }
}

TEST(Auth, H8_AGuestGetsAnAnonymousTokenAlsoAfterA403) {
  for (int unauthorized : {401, 403}) {
    RegistryScript script{.auth = Auth::kBearer, .anonymous_tokens = true};
    script.unauthorized_status = unauthorized;
    ScriptedRegistry registry(script);
    oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(5000));
    Machine machine;
    ReadPart(*machine.Open(registry, kRepo, blob), 0, 100);
  }
}

// A docker configuration whose helper is a script of the test's own, found by PATH.
class WithHelper : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* path = ::getenv("PATH");
    path_ = path == nullptr ? "" : path;
    ::setenv("PATH", (folder_.path() + ":" + path_).c_str(), 1);
    const char* home = ::getenv("HOME");
    if (home != nullptr) home_ = home;
    ::unsetenv("HOME");
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    if (home_) ::setenv("HOME", home_->c_str(), 1);
  }
  void WriteHelper(const std::string& script) {
    std::string path = folder_ / "docker-credential-scripted";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
  }
  std::unique_ptr<CredentialProvider> Credentials(const std::string& host) {
    std::ofstream(folder_ / "config.json") << R"({"credHelpers":{")" << host << R"(":"scripted"}})";
    DockerConfigOptions options;
    options.path = folder_ / "config.json";
    options.helper_timeout = std::chrono::milliseconds(timeout_ms_);
    return MakeDockerConfigCredentials(options);
  }

  TemporaryDirectory folder_;
  std::string path_;
  std::optional<std::string> home_;
  int timeout_ms_ = 10'000;
};

TEST_F(WithHelper, H3_AHelperWorksWithoutHomeInTheEnvironment) {
  ScriptedRegistry registry(Basic());
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(5000));
  WriteHelper(R"(read server
test -n "$HOME" || exit 3
test "$1" = get || exit 4
printf '{"ServerURL":"%s","Username":"user","Secret":"secret-password"}' "$server")");
  Machine machine(Credentials(registry.host()));
  ReadPart(*machine.Open(registry, kRepo, blob), 0, 100);
}

// I7: what anybody can read of a process.
TEST_F(WithHelper, I7_TheCommandLineOfAHelperNamesNoServerAndNoSecret) {
  ScriptedRegistry registry(Basic());
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(5000));
  WriteHelper("tr '\\0' ' ' </proc/$$/cmdline >" + folder_.path() + "/cmdline" + R"(
printf '{"Username":"user","Secret":"secret-password"}')");
  Machine machine(Credentials(registry.host()));
  ReadPart(*machine.Open(registry, kRepo, blob), 0, 100);
  std::ifstream stream(folder_ / "cmdline");
  std::string line{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_THAT(line, HasSubstr("docker-credential-scripted get"));
  EXPECT_EQ(line.find("secret"), std::string::npos) << line;
  EXPECT_EQ(line.find(registry.host()), std::string::npos) << line;
}

TEST_F(WithHelper, H3_AHelperThatHangsIsEndedAndNamed) {
  ScriptedRegistry registry(Basic());
  registry.AddManifest(kRepo, "latest", oci::kMediaTypeManifest, "{}");
  WriteHelper("exec sleep 1000");
  timeout_ms_ = 100;
  Machine machine(Credentials(registry.host()));
  auto fetched = machine.client().FetchManifest(registry.Reference(kRepo), "latest", {});
  EXPECT_TRUE(absl::IsUnauthenticated(fetched.status())) << fetched.status();
  EXPECT_THAT(fetched.status().ToString(), HasSubstr("credential helper scripted"));
  EXPECT_THAT(fetched.status().ToString(), HasSubstr("HOME"));
}

TEST_F(WithHelper, H8_ABrokenHelperFallsBackToAGuest) {
  for (const char* script :
       {"exit 1", "echo nonsense", "kill -9 $$", "echo credentials not found in native keychain; exit 1"}) {
    ScriptedRegistry registry({.auth = Auth::kBearer, .anonymous_tokens = true});
    oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(5000));
    WriteHelper(script);
    Machine machine(Credentials(registry.host()));
    ReadPart(*machine.Open(registry, kRepo, blob), 0, 100);
  }
}

TEST_F(WithHelper, ALoginThatComesLaterIsSeenWithoutRestart) {
  ScriptedRegistry registry(Basic());
  registry.AddManifest(kRepo, "latest", oci::kMediaTypeManifest, "{}");
  WriteHelper("echo credentials not found in native keychain; exit 1");
  Machine machine(Credentials(registry.host()));
  EXPECT_FALSE(machine.client().FetchManifest(registry.Reference(kRepo), "latest", {}).ok());
  WriteHelper(R"(printf '{"Username":"user","Secret":"secret-password"}')");
  auto fetched = machine.client().FetchManifest(registry.Reference(kRepo), "latest", {});
  EXPECT_TRUE(fetched.ok()) << fetched.status();
}

TEST(Auth, AForbiddenRepositoryDoesNotSpoilTheCredentialsOfOthers) {
  ScriptedRegistry registry(Basic());
  registry.AddManifest(kRepo, "latest", oci::kMediaTypeManifest, "{}");
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back(
        {.part = "/forbidden/", .effect = [](Answer& answer) { answer = Answer{.status = 403}; }});
  });
  Machine machine(MakeStaticCredentials(UserAndPassword(kUser, kPassword)));
  for (int i = 0; i < 3; ++i) {
    auto refused = machine.client().FetchManifest(registry.Reference("forbidden/image"), "latest", {});
    EXPECT_TRUE(absl::IsPermissionDenied(refused.status())) << refused.status();
    auto fetched = machine.client().FetchManifest(registry.Reference(kRepo), "latest", {});
    EXPECT_TRUE(fetched.ok()) << fetched.status();
  }
}

TEST(Auth, APasswordIsNotSentToATokenServerInTheClear) {
  TemporaryDirectory folder;
  ScriptedRegistry registry;
  ScriptedRegistry token_server(Bearer());
  registry.Change([&](RegistryScript& script) {
    script.troubles.push_back({.effect = [&](Answer& answer) {
      answer = Answer{.status = 401}.With("WWW-Authenticate", "Bearer realm=\"ftp://127.0.0.1/token\"");
    }});
  });
  Machine machine(MakeStaticCredentials(UserAndPassword(kUser, kPassword)));
  auto refused = machine.client().FetchManifest(registry.Reference(kRepo), "latest", {});
  EXPECT_FALSE(refused.ok());
}

}  // namespace
}  // namespace soci::test
