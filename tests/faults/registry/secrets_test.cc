// Field report I7: no Authorization value, signature, session token or password in any log line or error, at any level.
#include <fstream>

#include "indexer/base/log.h"
#include "indexer/oci/annotations.h"
#include "indexer/registry/docker_config.h"
#include "tests/faults/registry/scenario.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRepo[] = "team/image";

class Secrets : public ::testing::Test {
 protected:
  void SetUp() override {
    log::SetLevel(log::Level::kDebug);
    ::testing::internal::CaptureStderr();
  }
  void TearDown() override {
    std::string log = ::testing::internal::GetCapturedStderr();
    log::SetLevel(log::Level::kInfo);
    EXPECT_THAT(log, Not(HasSubstr("secret")));
    EXPECT_THAT(log, Not(HasSubstr("Bearer ")));
    EXPECT_THAT(log, Not(HasSubstr("Basic ")));
    EXPECT_THAT(log, Not(HasSubstr("X-Amz-Signature")));
    EXPECT_THAT(errors_, Not(HasSubstr("secret")));
    EXPECT_THAT(errors_, Not(HasSubstr("X-Amz-Signature")));
    EXPECT_GT(failures_, 0);
  }
  void Note(const Status& status) {
    errors_ += status.ToString() + "\n";
    failures_ += !status.ok();
  }
  // Every kind of request once.
  void AskForEverything(Machine& machine, ScriptedRegistry& registry, const oci::Descriptor& blob) {
    oci::Reference repository = registry.Reference(kRepo);
    Status status;
    ReadPart(*machine.Open(registry, kRepo, blob), 0, 500, &status);
    Note(status);
    Note(machine.client().FetchManifest(repository, "latest", {}).status());
    Note(machine.client().FindReferrers(repository, blob.digest, "a/b", {}).status());
    std::string bytes = PatternBytes(20'000, 99);
    oci::Descriptor pushed;
    pushed.digest = oci::Digest::Of(bytes);
    pushed.size = static_cast<int64_t>(bytes.size());
    Note(machine.client().PushBlob(repository, pushed, bytes));
    Note(machine.client().PushManifest(repository, "v2", oci::kMediaTypeManifest, "{}").status());
  }

  std::string errors_;
  int failures_ = 0;
};

TEST_F(Secrets, I7_NoFetchErrorTellsASecret) {
  std::vector<std::function<void(Answer&)>> effects = {
      [](Answer& answer) { answer.status = 403; },
      [](Answer& answer) { answer.status = 500; },
      [](Answer& answer) { answer.reset_at = 0; },
      [](Answer& answer) { answer.end_at = 5; },
      [](Answer& answer) {
        answer.status = 400;
        answer.body = R"({"errors":[{"code":"DENIED","message":"Bearer secret-token-1 and sig=secret-sig"}]})";
      },
      [](Answer& answer) {
        answer.headers = {{"Location", "http://user:secret-password@127.0.0.1:1/?X-Amz-Signature=secret"}};
      },
      [](Answer& answer) {
        answer.status = 307;
        answer.headers = {{"Location", "http://127.0.0.1:1/x?X-Amz-Signature=secret-sig"}};
      },
      [](Answer& answer) {
        answer.status = 307;
        answer.headers = {{"Location", "gopher://127.0.0.1/secret?X-Amz-Signature=secret-sig"}};
      },
  };
  for (const auto& effect : effects) {
    for (bool at_storage : {false, true}) {
      RegistryScript script{.auth = RegistryScript::Auth::kBearer,
                            .users = {{"user", "secret-password"}},
                            .redirect_blobs = true,
                            .url_uses = 2};
      (at_storage ? script.storage_troubles : script.troubles)
          .push_back({.from = at_storage ? 1 : 3, .effect = effect});
      ScriptedRegistry registry(script);
      oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(10'000));
      RegistryClientOptions options;
      options.push_piece = 5000;
      options.retry.attempts = 3;
      Machine machine(MakeStaticCredentials(UserAndPassword("user", "secret-password")), options);
      AskForEverything(machine, registry, blob);
    }
  }
}

TEST_F(Secrets, I7_ARefusedLoginTellsNoPassword) {
  for (RegistryScript::Auth auth : {RegistryScript::Auth::kBasic, RegistryScript::Auth::kBearer}) {
    ScriptedRegistry registry({.auth = auth, .users = {{"user", "other"}}});
    oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(10'000));
    TemporaryDirectory folder;
    std::ofstream(folder / "config.json")
        << R"({"auths":{")" << registry.host() << R"(":{"username":"user","password":"secret-password"}}})";
    Machine machine(MakeDockerConfigCredentials({.path = folder / "config.json"}));
    AskForEverything(machine, registry, blob);
  }
}

}  // namespace
}  // namespace soci::test
