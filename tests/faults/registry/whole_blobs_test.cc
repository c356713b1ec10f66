// Field report B8: servers and caches that ignore ranges and answer each read with the whole blob.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/faults/registry/scenario.h"
#include "tests/support/memory_use.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {
namespace {

using Ranges = RegistryScript::Ranges;

constexpr char kRepo[] = "team/image";

TEST(WholeBlobs, B8_AServerThatIgnoresRangesCostsOneDownload) {
  ScriptedRegistry registry({.ranges = Ranges::kIgnored});
  std::string bytes = PatternBytes(32 << 20);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  TemporaryDirectory spool;
  RegistryClientOptions options;
  options.spool_directory = spool.path();
  Machine machine(MakeAnonymousCredentials(), options);
  auto source = machine.Open(registry, kRepo, blob);

  ExpectRightBytesEverywhere(*source, bytes, 60);
  // The answer that showed the habit is cut off; the download after it is the only whole one.
  EXPECT_LE(registry.Count("GET", "/blobs/sha256"), 2u);
  EXPECT_LE(registry.BlobBytes(), bytes.size() + bytes.size() / 2);
}

TEST(WholeBlobs, B8_WithoutASpoolTheBytesAreStillRight) {
  ScriptedRegistry registry({.ranges = Ranges::kIgnored});
  std::string bytes = PatternBytes(300'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  Machine machine;
  auto source = machine.Open(registry, kRepo, blob);
  ExpectRightBytesEverywhere(*source, bytes, 10);
}

TEST(WholeBlobs, B8_OneThatStartsWith206AndGoesOnWith200IsTheSame) {
  ScriptedRegistry registry({.ranges = Ranges::kHonouredOnce, .redirect_blobs = true});
  std::string bytes = PatternBytes(4 << 20);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  TemporaryDirectory spool;
  RegistryClientOptions options;
  options.spool_directory = spool.path();
  Machine machine(MakeAnonymousCredentials(), options);
  auto source = machine.Open(registry, kRepo, blob);
  ExpectRightBytesEverywhere(*source, bytes, 40);
  EXPECT_LE(registry.Count("GET", "/store/"), 3u);
}

TEST(WholeBlobs, B8_ACorruptWholeDownloadFailsItsReadersAndIsNotKept) {
  ScriptedRegistry registry({.ranges = Ranges::kIgnored});
  std::string bytes = PatternBytes(2 << 20);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    // The second answer is the download.
    script.troubles.push_back({.part = "/blobs/", .from = 2, .times = 1, .effect = [](Answer& answer) {
                                 answer.flip_bit_at = 1000;
                                 answer.piece = 4096;
                               }});
  });
  TemporaryDirectory spool;
  RegistryClientOptions options;
  options.spool_directory = spool.path();
  Machine machine(MakeAnonymousCredentials(), options);
  auto source = machine.Open(registry, kRepo, blob);
  // The last byte arrives together with the verdict or before it; the blob is then complete or given up.
  Status first;
  ReadPart(*source, bytes.size() - 1, 1, &first);
  std::string again;
  for (int attempt = 0; attempt < 50 && again.empty(); ++attempt) again = ReadPart(*source, 0, 2000, &first);
  EXPECT_EQ(again.size(), 2000u) << first;
}

// B8. A disk that is full costs speed, not bytes.
TEST(WholeBlobs, B8_ASpoolThatFindsNoSpaceIsDoneWithout) {
  ScriptedRegistry registry({.ranges = Ranges::kIgnored});
  std::string bytes = PatternBytes(4 << 20);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  TemporaryDirectory spool;
  RegistryClientOptions options;
  options.spool_directory = spool.path();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_NE(::signal(SIGXFSZ, SIG_IGN), SIG_ERR);
  rlimit small{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  {
    Machine machine(MakeAnonymousCredentials(), options);
    auto source = machine.Open(registry, kRepo, blob);
    EXPECT_TRUE(ReadPart(*source, 3 << 20, 5000) == bytes.substr(3 << 20, 5000));
    ExpectRightBytesEverywhere(*source, bytes, 5);
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_DFL);
}

// B8. 500 MiB that nobody holds: the server makes them as it sends, the client may not keep them either.
TEST(WholeBlobs, B8_ALayerOf500MiBTakesLessThan64MiBOfMemory) {
  if (!kMemoryIsOurs) GTEST_SKIP() << "sanitizers keep memory of their own";
  constexpr uint64_t kSize = uint64_t{500} << 20;
  const std::string piece = PatternBytes(1 << 20);
  oci::Hasher hasher;
  for (uint64_t done = 0; done < kSize; done += piece.size()) hasher.Update(AsBytes(piece));
  oci::Descriptor blob;
  blob.digest = hasher.Finish();
  blob.size = static_cast<int64_t>(kSize);
  ScriptedServer server([&](const SeenRequest& request) {
    if (request.path.find("/blobs/") == std::string::npos) return Answer{};
    Answer answer{.body = piece};  // with 200, whatever range was asked for
    answer.repeats = static_cast<int>(kSize / piece.size());
    return answer;
  });
  TemporaryDirectory spool;
  RegistryClientOptions options;
  options.spool_directory = spool.path();
  Machine machine(MakeAnonymousCredentials(), options);
  oci::Reference repository;
  repository.host = server.host();
  repository.repository = kRepo;
  auto source = machine.client().OpenBlob(repository, blob);
  ASSERT_TRUE(source.ok()) << source.status();
  const uint64_t before = ResidentBytes();
  uint64_t most = before;
  for (uint64_t mib : {1, 100, 250, 400, 499, 20, 300}) {
    EXPECT_TRUE(ReadPart(**source, (mib << 20) + 1000, 4096) == piece.substr(1000, 4096)) << mib;
    most = std::max(most, ResidentBytes());
  }
  EXPECT_LT(most - before, uint64_t{64} << 20);
  RecordProperty("extra_memory_mib", static_cast<int>((most - before) >> 20));
  uint64_t sent = 0;
  for (const SeenRequest& request : server.requests()) sent += request.body_sent;
  EXPECT_LT(sent, kSize + (uint64_t{16} << 20)) << "one download, and the start of the answer that showed the habit";
}

}  // namespace
}  // namespace soci::test
