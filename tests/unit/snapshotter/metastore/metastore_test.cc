#include "snapshotter/metastore/metastore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "indexer/base/file_io.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr auto kActive = SnapshotKind::kActive;
constexpr auto kView = SnapshotKind::kView;

class MetastoreTest : public ::testing::Test {
 protected:
  void SetUp() override { Reopen(); }
  void Reopen() {
    store_.reset();
    Result<std::unique_ptr<Metastore>> opened = Metastore::Open(path_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
  }
  // Commits a snapshot with no labels.
  void Layer(const std::string& name, const std::string& parent) {
    ASSERT_TRUE(store_->Create(kActive, name + "-key", parent, {}).ok());
    ASSERT_TRUE(store_->Commit(name + "-key", name, {}, {}).ok());
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const std::vector<Snapshot> listed = *store_->List({});
    for (const Snapshot& snapshot : listed) names.push_back(snapshot.name);
    return names;
  }

  test::TemporaryDirectory folder_;
  const std::string path_ = folder_ / "metadata.db";
  std::unique_ptr<Metastore> store_;
};

TEST_F(MetastoreTest, CreateCommitAndCreateOnTopGiveTheChainNearestFirst) {
  Layer("a", "");
  Layer("b", "a");
  Result<SnapshotStack> top = store_->Create(kActive, "container", "b", {{"x", "1"}, {"empty", ""}});
  ASSERT_TRUE(top.ok());
  EXPECT_EQ(top->snapshot.kind, kActive);
  EXPECT_THAT(top->snapshot.labels, ElementsAre(Pair("x", "1")));
  ASSERT_EQ(top->parents.size(), 2u);
  EXPECT_EQ(top->parents[0].name, "b");
  EXPECT_EQ(top->parents[1].name, "a");
  Reopen();
  Result<SnapshotStack> again = store_->GetOpen("container");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->snapshot.id, top->snapshot.id);
  EXPECT_EQ(again->snapshot.parent, "b");
  EXPECT_EQ(again->snapshot.created, top->snapshot.created);
  EXPECT_EQ(again->parents.size(), 2u);
}

TEST_F(MetastoreTest, CommitReplacesLabelsKeepsTheIdAndFreesTheKey) {
  const int64_t id = store_->Create(kActive, "key", "", {{"old", "1"}})->snapshot.id;
  Result<Snapshot> committed = store_->Commit("key", "name", {{"new", "2"}}, {.bytes = 4096, .inodes = 3});
  ASSERT_TRUE(committed.ok());
  EXPECT_EQ(committed->id, id);
  EXPECT_EQ(store_->Stat("key").status().code(), absl::StatusCode::kNotFound);
  Result<Snapshot> found = store_->Stat("name");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->kind, SnapshotKind::kCommitted);
  EXPECT_THAT(found->labels, ElementsAre(Pair("new", "2")));
  EXPECT_EQ(found->usage.bytes, 4096u);
  EXPECT_EQ(found->usage.inodes, 3u);
}

TEST_F(MetastoreTest, CodesAreContainerds) {
  Layer("base", "");
  ASSERT_TRUE(store_->Create(kActive, "active", "base", {}).ok());
  ASSERT_TRUE(store_->Create(kView, "view", "base", {}).ok());
  auto code = [](const auto& result) { return result.status().code(); };
  EXPECT_EQ(code(store_->Create(kActive, "active", "base", {})), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(code(store_->Create(kActive, "base", "", {})), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(code(store_->Create(kActive, "k", "none", {})), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(store_->Create(kActive, "k", "active", {})), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(store_->Create(kActive, "", "", {})), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(store_->Commit("none", "n", {}, {})), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(store_->Commit("view", "n", {}, {})), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code(store_->Commit("base", "n", {}, {})), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code(store_->Commit("active", "base", {}, {})), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(code(store_->GetOpen("base")), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code(store_->GetOpen("none")), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(store_->Remove("none")), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(store_->Remove("base")), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code(store_->Update("none", {}, {})), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(store_->Update("base", {}, {"parent"})), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->CheckCreate("active", "base").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(store_->CheckCreate("k", "none").code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(store_->CheckCreate("k", "base").ok());
  EXPECT_THAT(Names(), ElementsAre("active", "base", "view"));
}

TEST_F(MetastoreTest, ASnapshotIsRemovableOnceItsChildrenAreGoneAndItsIdIsNotUsedAgain) {
  Layer("base", "");
  const int64_t id = store_->Create(kActive, "active", "base", {})->snapshot.id;
  EXPECT_THAT(std::string(Message(store_->Remove("base").status())), HasSubstr("has a child, active"));
  EXPECT_EQ(store_->Remove("active")->id, id);
  EXPECT_TRUE(store_->Remove("base").ok());
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_GT(store_->Create(kActive, "active", "", {})->snapshot.id, id);
}

TEST_F(MetastoreTest, UpdateReplacesAllLabelsOrOnlyThoseOfTheMask) {
  Layer("a", "");
  EXPECT_THAT(store_->Update("a", {{"x", "1"}, {"y", "2"}}, {})->labels, ElementsAre(Pair("x", "1"), Pair("y", "2")));
  EXPECT_THAT(store_->Update("a", {{"x", "3"}, {"z", "9"}}, {"labels.x"})->labels,
              ElementsAre(Pair("x", "3"), Pair("y", "2")));
  EXPECT_THAT(store_->Update("a", {}, {"labels.x"})->labels, ElementsAre(Pair("y", "2")));
  EXPECT_THAT(store_->Update("a", {{"dotted.key", "4"}}, {"labels.dotted.key"})->labels,
              ElementsAre(Pair("dotted.key", "4"), Pair("y", "2")));
  EXPECT_THAT(store_->Update("a", {{"only", "5"}}, {"labels"})->labels, ElementsAre(Pair("only", "5")));
  EXPECT_FALSE(store_->Update("a", {{"lost", "6"}}, {"labels", "name"}).ok());
  EXPECT_THAT(store_->Stat("a")->labels, ElementsAre(Pair("only", "5"))) << "a refused update changes nothing";
}

TEST_F(MetastoreTest, ListIsSortedByNameAndFiltered) {
  Layer("b", "");
  Layer("a", "b");
  ASSERT_TRUE(store_->Create(kView, "c", "a", {}).ok());
  EXPECT_THAT(Names(), ElementsAre("a", "b", "c"));
  const auto found = *store_->List(*SnapshotFilter::Parse({"parent==b", "kind==view"}));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[1].name, "c");
}

TEST_F(MetastoreTest, ARemoteSnapshotIsFoundByTargetAndParent) {
  Result<Snapshot> base = store_->AddRemote("chain-1", "", {{"l", "v"}}, "sha256:l1");
  ASSERT_TRUE(base.ok());
  EXPECT_EQ(base->name, "chain-1");
  EXPECT_EQ(base->kind, SnapshotKind::kCommitted);
  EXPECT_TRUE((*store_->FindRemote("chain-1", "")).has_value());
  EXPECT_FALSE((*store_->FindRemote("chain-1", "other")).has_value());
  EXPECT_FALSE((*store_->FindRemote("", "")).has_value());
  EXPECT_EQ(store_->AddRemote("chain-1", "", {}, "sha256:l1").status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(*store_->UsesLayer("sha256:l1"));
  EXPECT_FALSE(*store_->UsesLayer(""));
  ASSERT_TRUE(store_->Remove("chain-1").ok());
  EXPECT_FALSE(*store_->UsesLayer("sha256:l1"));
}

TEST_F(MetastoreTest, OneTargetMayRestOnParentsOfSeveralNamespaces) {
  Layer("default/1/chain-1", "");
  Layer("k8s.io/2/chain-1", "");
  Result<Snapshot> first = store_->AddRemote("chain-2", "default/1/chain-1", {}, "sha256:l2");
  Result<Snapshot> second = store_->AddRemote("chain-2", "k8s.io/2/chain-1", {}, "sha256:l2");
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(first->name, second->name);
  EXPECT_EQ((*store_->FindRemote("chain-2", "k8s.io/2/chain-1"))->name, second->name);
  EXPECT_TRUE(store_->Remove(first->name).ok());
  EXPECT_TRUE(*store_->UsesLayer("sha256:l2"));
}

TEST_F(MetastoreTest, ADamagedFileIsOneErrorNamingIt) {
  store_.reset();
  std::ofstream(path_) << "this is not a database at all, whatever its name says. " << std::string(4096, 'x');
  const Status status = Metastore::Open(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(Message(status)), HasSubstr(path_));
}

TEST_F(MetastoreTest, PagesOverwrittenInTheMiddleAreFoundWhenOpening) {
  for (int i = 0; i < 200; ++i) Layer("layer-" + std::to_string(i), "");
  store_.reset();
  std::string bytes = *ReadFile(path_);
  ASSERT_GT(bytes.size(), 3 * 4096u);
  for (size_t at = 4096; at < bytes.size(); ++at) bytes[at] = static_cast<char>(at * 7);
  ASSERT_TRUE(WriteFileAtomic(path_, bytes).ok());
  const Status status = Metastore::Open(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr(path_));
}

TEST_F(MetastoreTest, ASecondUserIsToldThatTheFileIsInUse) {
  const Status status = Metastore::Open(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(Message(status)), HasSubstr("in use"));
}

TEST_F(MetastoreTest, ADirectoryThatIsMissingIsOneErrorNamingTheFile) {
  const Status status = Metastore::Open(folder_ / "no/metadata.db").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(Message(status)), HasSubstr("no/metadata.db"));
}

TEST_F(MetastoreTest, AFileOfANewerVersionIsRefused) {
  store_.reset();
  {
    auto database = *Database::Open(path_);
    ASSERT_TRUE(database->Execute("PRAGMA user_version=99").ok());
  }
  const Status status = Metastore::Open(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(Message(status)), HasSubstr("schema 99"));
}

TEST_F(MetastoreTest, ThreadsThatCreateTheSameKeyAgreeOnOneWinner) {
  std::atomic<int> created{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) created += store_->Create(kActive, std::to_string(i), "", {}).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(created, 20);
}

}  // namespace
}  // namespace soci
