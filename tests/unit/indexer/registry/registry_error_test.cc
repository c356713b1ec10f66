#include "indexer/registry/registry_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RegistryError, SaysWhatTheRegistrySaid) {
  Status status = HttpErrorStatus(404, R"({"errors":[{"code":"NAME_UNKNOWN","message":"repository name not known"}]})",
                                  "fetching x");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(std::string(Message(status)),
            "fetching x: the server answered 404 NAME_UNKNOWN: repository name not known");
  EXPECT_EQ(HttpStatusOf(status), 404);
}

TEST(RegistryError, ReadsATokenServersError) {
  EXPECT_EQ(DescribeErrorBody(R"({"error":"invalid_grant","error_description":"expired"})"), "invalid_grant: expired");
}

TEST(RegistryError, SecretsInTheAnswerAreLeftOut) {
  std::string text =
      HttpErrorStatus(
          403,
          R"({"errors":[{"code":"DENIED","message":"bad Authorization: Bearer abcdef and https://s3/x?X-Amz-Signature=abcdef token=abcdef"}]})",
          "x")
          .ToString();
  EXPECT_THAT(text, Not(HasSubstr("abcdef")));
  EXPECT_THAT(text, HasSubstr("DENIED"));
}

TEST(RegistryError, WhatIsNoErrorJsonIsNotQuoted) {
  for (const char* body : {"", "<html>secret</html>", "{}", "[]", R"({"errors":[]})", R"({"errors":[7]})",
                           R"({"errors":{"code":"X"}})", "{\"errors\":"}) {
    EXPECT_EQ(DescribeErrorBody(body), "") << body;
  }
}

TEST(RegistryError, LongAndUnprintableTextIsTamed) {
  std::string text = DescribeErrorBody("{\"errors\":[{\"code\":\"A\\nB\\u001b[31m\",\"message\":\"" +
                                       std::string(5000, 'x') + " y\"}]}");
  EXPECT_LE(text.size(), 600u);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace soci
