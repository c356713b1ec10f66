#include "snapshotter/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/base/file_io.h"
#include "snapshotter/config/config_keys.h"

namespace soci {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& toml, const ConfigOverrides& overrides = {}) {
  const Status status = ParseConfig(toml, "c.toml", overrides).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << toml;
  return std::string(Message(status));
}

// Field report C15.
TEST(Config, C15_StartsWithDefaultsWhenThereIsNoFile) {
  Result<Config> config = ParseConfig("", "c.toml");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->paths.state, "/var/lib/soci-snapshotter");
  EXPECT_EQ(config->service.socket, "/run/soci-snapshotter/soci-snapshotter.sock");
  EXPECT_EQ(config->service.admin_socket, "/run/soci-snapshotter/admin.sock");
  EXPECT_EQ(config->fetch.fill_range, 8_MiB);
  EXPECT_EQ(config->registry.read_retry_budget, std::chrono::seconds(60));
  EXPECT_EQ(config->index.trust, TrustPolicy::kAny);
}

TEST(Config, C15_UnknownKeyIsRefusedNamingKeyAndLine) {
  EXPECT_EQ(ErrorOf("[fetch]\nfill = true\nfil_range = \"1MiB\"\n"),
            "c.toml:3: unknown key fetch.fil_range (did you mean fetch.fill_range?)");
  EXPECT_EQ(ErrorOf("\n[fetcher]\nfill = true\n"), "c.toml:2: unknown section fetcher");
  EXPECT_EQ(ErrorOf("root = \"/x\"\n"), "c.toml:1: unknown key root");
}

TEST(Config, NamedFileMustExistAndIsInTheError) {
  const Status status = BuildConfig("/nonexistent/c.toml", {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Message(status)), HasSubstr("/nonexistent/c.toml"));
}

TEST(Config, SyntaxErrorNamesFileAndLine) { EXPECT_THAT(ErrorOf("[fetch]\nfill = \n"), HasSubstr("c.toml:2: ")); }

TEST(Config, ReadsEveryKindOfValue) {
  Result<Config> config = ParseConfig(R"(
[paths]
state = "/srv/soci/"
[log]
level = "debug"
[index]
trust = "bound"
negative_ttl = "5m"
[fetch]
fill = false
fill_range = "16MiB"
write_queue = 2097152
decode_threads = 3
)",
                                      "c.toml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->paths.state, "/srv/soci");
  EXPECT_EQ(config->log.level, log::Level::kDebug);
  EXPECT_EQ(config->index.trust, TrustPolicy::kBound);
  EXPECT_EQ(config->index.negative_ttl, std::chrono::minutes(5));
  EXPECT_FALSE(config->fetch.fill);
  EXPECT_EQ(config->fetch.fill_range, 16_MiB);
  EXPECT_EQ(config->fetch.write_queue, 2_MiB);
  EXPECT_EQ(config->fetch.decode_threads, 3u);
}

TEST(Config, WrongTypesAndValuesAreRefusedWithLine) {
  EXPECT_EQ(ErrorOf("[fetch]\nfill = \"yes\"\n"), "c.toml:2: fetch.fill: must be true or false");
  EXPECT_THAT(ErrorOf("[fetch]\nfill_range = \"8MB\"\n"),
              HasSubstr("c.toml:2: fetch.fill_range: \"8MB\" is not a size"));
  EXPECT_THAT(ErrorOf("[fetch]\nfill_range = -1\n"), HasSubstr("is not a size"));
  EXPECT_THAT(ErrorOf("[fetch]\nfill_range = \"9999999999TiB\"\n"), HasSubstr("is not a size"));
  EXPECT_THAT(ErrorOf("[fetch]\nfill_range = [1]\n"), HasSubstr("must be a size"));
  EXPECT_THAT(ErrorOf("[index]\nnegative_ttl = 60\n"), HasSubstr("is not a duration"));
  EXPECT_THAT(ErrorOf("[index]\ntrust = \"all\"\n"), HasSubstr("\"all\" is none of: any, bound"));
  EXPECT_THAT(ErrorOf("fetch = 1\n"), HasSubstr("c.toml:1: fetch: must be a section"));
}

TEST(Config, ValuesOutOfBoundsAreRefused) {
  EXPECT_THAT(ErrorOf("[registry]\nconnections = 4\n"), HasSubstr("registry.connections: 4 is not between 16 and"));
  EXPECT_THAT(ErrorOf("[fetch]\nfill_range = 1\n"), HasSubstr("fetch.fill_range: 1 is not between"));
  EXPECT_THAT(ErrorOf("[paths]\nstate = \"relative\"\n"), HasSubstr("paths.state: \"relative\" is not absolute"));
  EXPECT_THAT(ErrorOf("[paths]\nrun = \"/a:b\"\n"), HasSubstr("colon"));
  EXPECT_THAT(ErrorOf("[service]\nsocket = \"/s\"\nadmin_socket = \"/s\"\n"), HasSubstr("same socket"));
}

TEST(Config, FlagsWinOverTheFileAndDerivedPathsFollowThem) {
  Result<Config> config =
      ParseConfig("[paths]\nrun = \"/run/a\"\n", "c.toml", {{"paths.run", "/run/b"}, {"fetch.fill", "false"}});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->service.socket, "/run/b/soci-snapshotter.sock");
  EXPECT_FALSE(config->fetch.fill);
  EXPECT_THAT(ErrorOf("", {{"fetch.fll", "false"}}),
              HasSubstr("flag: unknown key fetch.fll (did you mean fetch.fill?)"));
}

TEST(Config, EveryKeyReadsBackWhatItPrints) {
  for (const ConfigKey& key : ConfigKeys()) {
    Config config;
    const std::string text = key.get(config);
    EXPECT_TRUE(key.set(config, text).ok()) << key.name << " = " << text;
    EXPECT_EQ(key.get(config), text) << key.name;
  }
}

// Each key has a row "| `section.key` | default | ..." in the documentation, and no row names a key that is not there.
TEST(Config, DocumentationListsEveryKeyWithItsDefault) {
  const std::string text = *ReadFile(SOCI_SOURCE_DIR "/docs/configuration.md");
  size_t rows = 0;
  for (size_t at = text.find("\n| `"); at != std::string::npos; at = text.find("\n| `", at + 1)) ++rows;
  EXPECT_EQ(rows, ConfigKeys().size());
  for (const ConfigKey& key : ConfigKeys()) {
    const std::string value = key.get({});
    EXPECT_THAT(text, HasSubstr("\n| `" + key.name + "` | " + (value.empty() ? "-" : "`" + value + "`") + " | " +
                                key.help + " |"));
  }
}

}  // namespace
}  // namespace soci
