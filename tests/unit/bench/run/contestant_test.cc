#include "bench/run/contestant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/run/command_line.h"
#include "tests/support/temporary_directory.h"

namespace soci::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Recipes : public ::testing::Test {
 protected:
  soci::Result<Contestant> Read(const std::string& text) {
    std::ofstream(folder_ / "peer.toml") << text;
    return ReadContestant(folder_ / "peer.toml");
  }
  std::string Error(const std::string& text) { return std::string(Message(Read(text).status())); }

  test::TemporaryDirectory folder_;
};

TEST_F(Recipes, EveryKeyIsRead) {
  const auto peer = Read(R"(
      snapshotter = "nydus"
      mode = "nydus v6"
      daemon = "nydusd --root {state}"
      socket = "{run}/n.sock"
      pull = "nydusctl pull {image}"
      setup = ["convert {image}", "push {image}"]
      image_suffix = "-nydus"
      local = "nydusctl done"
      [files]
      "{folder}/n.json" = "{{}}"
  )");
  ASSERT_TRUE(peer.ok()) << Message(peer.status());
  EXPECT_EQ(peer->mode, "nydus v6");
  EXPECT_EQ(peer->snapshotter, "nydus");
  EXPECT_EQ(peer->socket, "{run}/n.sock");
  EXPECT_THAT(peer->setup, ElementsAre("convert {image}", "push {image}"));
  EXPECT_EQ(peer->image_suffix, "-nydus");
  EXPECT_EQ(peer->local, Contestant::Local::kByCommand);
  EXPECT_EQ(peer->local_command, "nydusctl done");
  EXPECT_EQ(peer->files.at("{folder}/n.json"), "{{}}");
}

TEST_F(Recipes, ASnapshotterAloneIsPulledByCtr) {
  const auto peer = Read("snapshotter = \"native\"\n");
  ASSERT_TRUE(peer.ok()) << Message(peer.status());
  EXPECT_EQ(peer->mode, "native");
  EXPECT_THAT(peer->pull, HasSubstr("images pull"));
  EXPECT_EQ(peer->local, Contestant::Local::kAtPullEnd);
}

TEST_F(Recipes, WhatIsWrongIsNamedWithTheFile) {
  EXPECT_THAT(Error("snapshoter = \"x\"\n"), HasSubstr("unknown key snapshoter"));
  EXPECT_THAT(Error("snapshotter = 3\n"), HasSubstr("peer.toml: snapshotter has to be a string"));
  EXPECT_THAT(Error("snapshotter = \"x\"\nsetup = [1]\n"), HasSubstr("setup has to be an array of strings"));
  EXPECT_THAT(Error("pull = \"x\"\n"), HasSubstr("snapshotter has to be there"));
  EXPECT_THAT(Error("snapshotter = \"x\"\ndaemon = \"d\"\n"), HasSubstr("socket has to be there"));
  EXPECT_THAT(Error("snapshotter = \n"), HasSubstr("peer.toml:1: "));
  EXPECT_THAT(std::string(Message(ReadContestant(folder_ / "none.toml").status())), HasSubstr("none.toml"));
}

TEST(Contestants, WhoIsNotKnownIsToldWhoIs) {
  EXPECT_THAT(std::string(Message(KnownContestant("nydus").status())), HasSubstr("stargz"));
}

TEST(Contestants, EveryKnownRecipeCanBeFilledIn) {
  Values values;
  for (const char* name : {"containerd", "namespace", "ctr", "snapshotter", "image", "registry", "scheme", "plain",
                           "local", "folder", "state", "run", "socket", "port", "programs"}) {
    values[name] = name;
  }
  for (const char* name : {"containerd", "lazy", "lazy+replay", "full", "local", "soci", "stargz"}) {
    const auto contestant = KnownContestant(name);
    ASSERT_TRUE(contestant.ok()) << name;
    EXPECT_EQ(contestant->mode, name);
    EXPECT_TRUE(CommandLine(contestant->pull, values).ok()) << name;
    EXPECT_TRUE(CommandLine(contestant->daemon, values).ok()) << name;
    EXPECT_EQ(contestant->daemon.empty(), contestant->socket.empty()) << name;
    for (const std::string& line : contestant->setup) EXPECT_TRUE(CommandLine(line, values).ok()) << line;
    for (const auto& [path, text] : contestant->files) {
      EXPECT_TRUE(Fill(path, values).ok()) << path;
      EXPECT_TRUE(Fill(text, values).ok()) << text;
    }
  }
}

}  // namespace
}  // namespace soci::bench
