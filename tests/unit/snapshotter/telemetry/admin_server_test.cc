#include "snapshotter/telemetry/admin_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "snapshotter/telemetry/unix_socket.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using ::testing::HasSubstr;

class AdminServerTest : public ::testing::Test {
 protected:
  test::TemporaryDirectory folder_;
  const std::string path_ = folder_ / "admin.sock";
};

TEST_F(AdminServerTest, ALineIsAnsweredWithALine) {
  auto server = AdminServer::Start(path_, [](std::string_view request) { return "got " + std::string(request); });
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(AskAdmin(path_, "one").value(), "got one");
  EXPECT_EQ(AskAdmin(path_, "two").value(), "got two");
}

TEST_F(AdminServerTest, AnAnswerLargerThanTheSocketsBufferArrivesWhole) {
  const std::string large(4 << 20, 'x');
  auto server = AdminServer::Start(path_, [&](std::string_view) { return large; });
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(AskAdmin(path_, "all").value(), large);
}

TEST_F(AdminServerTest, OnlyTheOwnerMayConnect) {
  auto server = AdminServer::Start(path_, [](std::string_view) { return std::string(); });
  ASSERT_TRUE(server.ok());
  struct stat attributes {};
  ASSERT_EQ(::stat(path_.c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_mode & 0777, 0600u);
}

TEST_F(AdminServerTest, ASocketInUseIsNamedAndLeftAlone) {
  auto first = AdminServer::Start(path_, [](std::string_view) { return std::string("first"); });
  ASSERT_TRUE(first.ok());
  auto second = AdminServer::Start(path_, [](std::string_view) { return std::string("second"); });
  EXPECT_TRUE(absl::IsAlreadyExists(second.status()));
  EXPECT_THAT(second.status().ToString(), HasSubstr(path_));
  EXPECT_EQ(AskAdmin(path_, "?").value(), "first");
}

TEST_F(AdminServerTest, AStaleSocketIsReplaced) {
  { auto dead = ListenUnix(path_); }  // its file stays
  auto server = AdminServer::Start(path_, [](std::string_view) { return std::string("alive"); });
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(AskAdmin(path_, "?").value(), "alive");
}

TEST_F(AdminServerTest, NobodyThereIsUnavailableNamingTheSocket) {
  auto answer = AskAdmin(path_, "?");
  EXPECT_TRUE(absl::IsUnavailable(answer.status()));
  EXPECT_THAT(answer.status().ToString(), HasSubstr(path_));
}

}  // namespace
}  // namespace soci
