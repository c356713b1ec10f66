#include "snapshotter/metastore/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci {
namespace {

Snapshot Example() {
  Snapshot snapshot;
  snapshot.name = "default/3/sha256:aa";
  snapshot.parent = "default/1/sha256:bb";
  snapshot.kind = SnapshotKind::kCommitted;
  snapshot.labels = {{"containerd.io/snapshot.ref", "sha256:cc"}, {"a.b", "x y,z"}, {"plain", "v1"}};
  return snapshot;
}

bool Matches(const std::vector<std::string>& filters) {
  Result<SnapshotFilter> filter = SnapshotFilter::Parse(filters);
  EXPECT_TRUE(filter.ok()) << filter.status();
  return filter.ok() && filter->Matches(Example());
}

TEST(SnapshotFilter, NothingAndAnEmptyFilterMatchAll) {
  EXPECT_TRUE(Matches({}));
  EXPECT_TRUE(Matches({""}));
}

TEST(SnapshotFilter, FindsTheCommittedRemoteSnapshotAsContainerdAsksForIt) {
  EXPECT_TRUE(Matches({R"(labels."containerd.io/snapshot.ref"==sha256:cc,parent=="default/1/sha256:bb")"}));
  EXPECT_FALSE(Matches({R"(labels."containerd.io/snapshot.ref"==sha256:cc,parent=="")"}));
  EXPECT_FALSE(Matches({R"(labels."containerd.io/snapshot.ref"==sha256:c,parent=="default/1/sha256:bb")"}));
}

TEST(SnapshotFilter, ComparesEachField) {
  EXPECT_TRUE(Matches({"kind==committed"}));
  EXPECT_FALSE(Matches({"kind==active"}));
  EXPECT_TRUE(Matches({"kind!=active"}));
  EXPECT_TRUE(Matches({"name==default/3/sha256:aa"}));
  EXPECT_TRUE(Matches({"labels.plain==v1"}));
  EXPECT_TRUE(Matches({"labels.a.b==\"x y,z\""}));
  EXPECT_TRUE(Matches({R"(labels."a.b"=="x\u0020y\x2cz")"}));
}

TEST(SnapshotFilter, AFieldAloneAsksWhetherItIsThere) {
  EXPECT_TRUE(Matches({"labels.plain"}));
  EXPECT_FALSE(Matches({"labels.none"}));
  EXPECT_FALSE(Matches({"nosuchfield"}));
  EXPECT_TRUE(Matches({"parent"}));
}

TEST(SnapshotFilter, WhatIsNotThereIsUnequalToEverything) {
  EXPECT_TRUE(Matches({"labels.none!=x"}));
  EXPECT_FALSE(Matches({"labels.none==\"\""}));
}

TEST(SnapshotFilter, CommaIsAndSeveralFiltersAreOr) {
  EXPECT_FALSE(Matches({"kind==committed,labels.plain==v2"}));
  EXPECT_TRUE(Matches({"kind==committed, labels.plain==v1"}));
  EXPECT_TRUE(Matches({"kind==view", "labels.plain==v1"}));
}

TEST(SnapshotFilter, RegularExpressionsAreFoundAnywhereAndMayUseOtherQuotes) {
  EXPECT_TRUE(Matches({"name~=sha256"}));
  EXPECT_TRUE(Matches({"name~=/^default\\/[0-9]+\\/sha256:/"}));
  EXPECT_TRUE(Matches({"name~=|^default/3|"}));
  EXPECT_FALSE(Matches({"name~=\"^sha256\""}));
  EXPECT_FALSE(Matches({"name~=\"(\""})) << "a broken expression matches nothing, as in containerd";
}

TEST(SnapshotFilter, NonsenseIsRefusedNamingThePlace) {
  for (const char* text :
       {"kind=committed", "kind===committed", "kind==", "==x", ",", "kind==a,", "kind==\"a", "kind==/a/", "kind==a b",
        "labels.==x", "labels.\"\\q\"==x", "name==\"\\400\"", "name==\"\\ud\"", "na me==x", "name==\"\\U00110000\"",
        "name==\"\\", "kind!committed", "\x01", "name==a\x01"}) {
    const Status status = SnapshotFilter::Parse({text}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(Message(status)), ::testing::HasSubstr("character "));
  }
}

TEST(SnapshotFilter, AVeryLongRunOfSelectorsIsReadWithoutRecursion) {
  std::string text = "name";
  for (int i = 0; i < 100'000; ++i) text += ",name";
  EXPECT_TRUE(Matches({text}));
}

}  // namespace
}  // namespace soci
