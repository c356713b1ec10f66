// soci-work as the benchmark starts it, in a folder that is what an image unpacks to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bench/image/content.h"
#include "bench/image/trace.h"
#include "bench/run/workload_output.h"
#include "tests/support/temporary_directory.h"

namespace soci::bench {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Ended {
  int exit_code;
  std::string output;
};

class SociWork : public ::testing::Test {
 protected:
  SociWork() {
    for (const TreeEntry& entry : MergedTree(layers_)) {
      if (entry.type != TreeEntry::Type::kHardLink) Make(entry);
    }
    for (const TreeEntry& entry : MergedTree(layers_)) {
      if (entry.type == TreeEntry::Type::kHardLink) std::filesystem::create_hard_link(At(entry.target), At(entry.path));
    }
    std::filesystem::create_directories(At("bench"));
    std::ofstream(At(kRecipePath)) << ToText(recipe_);
    std::ofstream(At(kTracePath)) << ToText(MakeImportTrace(recipe_, layers_));
  }

  std::string At(const std::string& path) const { return folder_ / path; }

  void Make(const TreeEntry& entry) {
    std::filesystem::create_directories(std::filesystem::path(At(entry.path)).parent_path());
    if (entry.type == TreeEntry::Type::kDirectory) std::filesystem::create_directories(At(entry.path));
    if (entry.type == TreeEntry::Type::kSymlink) std::filesystem::create_symlink(entry.target, At(entry.path));
    if (entry.type != TreeEntry::Type::kFile) return;
    std::string bytes(entry.size, '\0');
    FileContent(recipe_.seed, entry.path).Fill(0, bytes.data(), bytes.size());
    std::ofstream(At(entry.path), std::ios::binary) << bytes;
    std::filesystem::permissions(At(entry.path), std::filesystem::perms(entry.executable ? 0755 : 0644));
    if (!entry.has_xattr) return;
    ::setxattr(At(entry.path).c_str(), kXattrName, entry.path.data(), entry.path.size(), 0);
  }

  Ended Work(const std::string& words) const {
    const std::string line = std::string(SOCI_BINARY_DIR "/bin/soci-work --root ") + (folder_ / "") + " " + words;
    FILE* const pipe = ::popen(line.c_str(), "r");
    Ended ended{-1, {}};
    std::array<char, 4096> piece;
    for (size_t count = 0; (count = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
      ended.output.append(piece.data(), count);
    }
    ended.exit_code = WEXITSTATUS(::pclose(pipe));
    return ended;
  }

  std::string First(const std::string& ending) const {
    for (const TreeEntry& entry : MergedTree(layers_)) {
      const size_t at = entry.path.rfind(ending);
      const bool matches = at != std::string::npos && at + ending.size() == entry.path.size();
      if (entry.type == TreeEntry::Type::kFile && matches && entry.size > 100) return entry.path;
    }
    return "";
  }
  // One bit of each file with such an ending.
  void Spoil(const std::string& ending) const {
    for (const TreeEntry& entry : MergedTree(layers_)) {
      const size_t at = entry.path.rfind(ending);
      if (entry.type != TreeEntry::Type::kFile || at == std::string::npos || entry.size == 0) continue;
      std::fstream file(At(entry.path), std::ios::in | std::ios::out | std::ios::binary);
      const auto byte = static_cast<char>(file.get() ^ 4);
      file.seekp(0);
      file.put(byte);
    }
  }

  test::TemporaryDirectory folder_;
  const ImageRecipe recipe_{"test", 5, 20'000'000, 900, 9, 55};
  const std::vector<PlannedLayer> layers_ = PlanLayers(recipe_);
};

TEST_F(SociWork, EveryVerbFindsAnImageAsItShouldBe) {
  for (const auto& [verb, mark, latencies] :
       std::vector<std::tuple<std::string, std::string, size_t>>{{"hello", "begun", 0},
                                                                 {"import", "imported", 50},
                                                                 {"epoch", "epoch done", 100},
                                                                 {"density 10", "density done", 10},
                                                                 {"density 100", "density done", 800},
                                                                 {"sequential", "model read", 3},
                                                                 {"random 50", "pages read", 50},
                                                                 {"warm", "from memory", 1000},
                                                                 {"steady 1", "reading", 1}}) {
    SCOPED_TRACE(verb);
    const Ended work = Work(verb);
    EXPECT_EQ(work.exit_code, 0) << work.output;
    EXPECT_TRUE(HasLineWith(work.output, mark)) << work.output;
    EXPECT_TRUE(HasLineWith(work.output, "done"));
    bench::Run run;
    ReadWorkloadOutput(work.output, run);
    EXPECT_GE(run.read_milliseconds.size(), latencies);
    EXPECT_LE(run.read_milliseconds.size(), 2 * 2000u);
    if (verb == "steady 1") {
      EXPECT_EQ(run.counts["failed_reads"], 0);
    }
  }
}

TEST_F(SociWork, WalksTheTreeThatTheRecipeMakes) {
  const Ended work = Work("metadata");
  if (work.output.find("getxattr: Operation not supported") != std::string::npos) {
    GTEST_SKIP() << "this file system has no xattrs";
  }
  EXPECT_EQ(work.exit_code, 0) << work.output;
  for (const char* mark : {"walked cold", "walked hot", "opened"}) EXPECT_TRUE(HasLineWith(work.output, mark));
}

TEST_F(SociWork, AWrongByteIsFoundByWhatReadsIt) {
  Spoil(".safetensors");
  const Ended sequential = Work("sequential");
  EXPECT_EQ(sequential.exit_code, 1);
  EXPECT_THAT(sequential.output, HasSubstr("models/model.safetensors: WRONG BYTE at 0"));
  EXPECT_EQ(Work("epoch").exit_code, 0) << "which does not read it";
  Spoil(".so");
  EXPECT_THAT(Work("import").output, HasSubstr("WRONG BYTE at 0"));
  Spoil(".jpg");
  EXPECT_EQ(Work("density 100").exit_code, 1);
  EXPECT_EQ(Work("warm").exit_code, 1);
}

TEST_F(SociWork, AFileThatIsMissingTooMuchOrCutIsFound) {
  const std::string deleted = First(".json");
  std::filesystem::remove(At(deleted));
  EXPECT_THAT(Work("metadata").output, AnyOf(HasSubstr("1 entries are missing"), HasSubstr("cannot be opened")));
  std::ofstream(At(deleted)) << "too short";
  EXPECT_THAT(Work("metadata").output, HasSubstr(deleted + ": has another size"));
  std::filesystem::remove(At(deleted));
  std::ofstream(At("usr/lib/stranger")) << "";
  EXPECT_THAT(Work("metadata").output, AnyOf(HasSubstr("stranger: should not be there"), HasSubstr("opened")));
  const std::string picture = First(".jpg");
  std::filesystem::resize_file(At(picture), 10);
  EXPECT_THAT(Work("epoch").output, HasSubstr(picture + ": has 10 bytes instead of "));
}

TEST_F(SociWork, ReadsThatFailAreCountedWhereTheyAreExpected) {
  for (const TreeEntry& entry : MergedTree(layers_)) {
    if (entry.path.rfind(".so") == entry.path.size() - 3) std::filesystem::remove(At(entry.path));
  }
  const Ended work = Work("steady 1");
  EXPECT_EQ(work.exit_code, 0) << work.output;
  bench::Run run;
  ReadWorkloadOutput(work.output, run);
  EXPECT_GT(run.counts["failed_reads"], 0);
}

TEST_F(SociWork, LinesWithoutSenseAreRefused) {
  for (const char* wrong : {"", "fly", "density", "density 0", "density 101", "density x", "import 7", "random 1 2"}) {
    const Ended work = Work(wrong);
    EXPECT_EQ(work.exit_code, 2) << wrong;
    EXPECT_THAT(work.output, HasSubstr("soci-work: "));
    EXPECT_THAT(work.output, Not(HasSubstr("begun")));
  }
  std::ofstream(At(kRecipePath)) << "nonsense";
  EXPECT_THAT(Work("hello").output, HasSubstr("bench/recipe: is no recipe"));
  std::filesystem::remove(At(kRecipePath));
  EXPECT_EQ(Work("hello").exit_code, 1);
}

}  // namespace
}  // namespace soci::bench
