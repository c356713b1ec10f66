// Reading blobs from servers that behave as real ones do. Names start with the field report they answer.
#include <arpa/inet.h>
#include <linux/socket.h>
#include <sys/socket.h>

#include <chrono>
#include <set>

#include "indexer/base/log.h"
#include "tests/faults/registry/scenario.h"

namespace soci::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Le;
using ::testing::SizeIs;
using Ranges = RegistryScript::Ranges;

constexpr char kRepo[] = "team/image";

TEST(Reading, B9_OneRequestNeverAsksForSeveralRanges) {
  ScriptedRegistry registry({.several_ranges_refused = true});
  std::string bytes = PatternBytes(100'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  Machine machine;
  ExpectRightBytesEverywhere(*machine.Open(registry, kRepo, blob), bytes, 20);
  for (const SeenRequest& request : registry.Requests("GET", "/blobs/")) {
    EXPECT_EQ(request.Header("range").find(','), std::string::npos);
    EXPECT_EQ(request.status, 206);
  }
}

TEST(Reading, B10_A206WithoutContentTypeIsGood) {
  ScriptedRegistry registry({.ranges = Ranges::kWithoutContentType});
  std::string bytes = PatternBytes(100'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  Machine machine;
  ExpectRightBytesEverywhere(*machine.Open(registry, kRepo, blob), bytes, 10);
}

TEST(Reading, B10_AShort206IsContinued) {
  ScriptedRegistry registry({.ranges = Ranges::kShort});
  std::string bytes = PatternBytes(20'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  Machine machine;
  EXPECT_TRUE(ReadPart(*machine.Open(registry, kRepo, blob), 5000, 10'000) == bytes.substr(5000, 10'000));
}

TEST(Reading, B10_A206ThatCannotBeTrustedIsRefused) {
  for (Ranges ranges : {Ranges::kWithoutContentRange, Ranges::kShifted, Ranges::kMultipart}) {
    ScriptedRegistry registry({.ranges = ranges});
    std::string bytes = PatternBytes(20'000);
    oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
    Machine machine;
    auto source = machine.Open(registry, kRepo, blob);
    Status status;
    ReadPart(*source, 5000, 100, &status);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_LE(registry.Count("GET", "/blobs/"), 5u);
  }
}

TEST(Reading, B10_OneBadAnswerIsAskedAgain) {
  ScriptedRegistry registry;
  std::string bytes = PatternBytes(20'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back(
        {.part = "/blobs/", .times = 1, .effect = [](Answer& answer) { answer.headers.clear(); }});
  });
  Machine machine;
  EXPECT_TRUE(ReadPart(*machine.Open(registry, kRepo, blob), 5000, 100) == bytes.substr(5000, 100));
}

TEST(Reading, B15_ThrottlingIsObeyedAndCostsNoMoreThanItMust) {
  for (int status : {429, 503}) {
    ScriptedRegistry registry;
    std::string bytes = PatternBytes(100'000);
    oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
    registry.Change([status](RegistryScript& script) {
      script.troubles.push_back({.part = "/blobs/", .from = 3, .every = 3, .effect = [status](Answer& answer) {
                                   answer = Answer{.status = status}.With("Retry-After", "7");
                                 }});
    });
    Machine machine;
    auto source = machine.Open(registry, kRepo, blob);
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(ReadPart(*source, i * 2000, 2000) == bytes.substr(i * 2000, 2000));
    EXPECT_LE(registry.Count("GET", "/blobs/"), 75u);
    EXPECT_FALSE(machine.transport().waits().empty());
    EXPECT_THAT(machine.transport().waits(), Each(Ge(std::chrono::seconds(7))));
  }
}

TEST(Reading, WhoWaitsBecauseTheServerSaidSoCanBeRecognised) {
  ScriptedRegistry registry;
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(1000));
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/blobs/", .effect = [](Answer& answer) {
                                 answer = Answer{.status = 429}.With("Retry-After", "50");
                               }});
  });
  const auto transport = MakeCurlTransport();  // waits for real
  const auto nobody = MakeAnonymousCredentials();
  const auto client = MakeRegistryClient(*transport, *nobody, {});
  auto source = client->OpenBlob(registry.Reference(kRepo), blob);
  ASSERT_TRUE(source.ok());
  const auto sink = std::make_shared<KeepingSink>();
  const std::shared_ptr<Transfer> transfer = (*source)->StartRead(0, 1000, {}, sink);
  while (!transfer->IsToldToWait()) std::this_thread::yield();
  transfer->Cancel();
  EXPECT_EQ(sink->Wait().status().code(), absl::StatusCode::kCancelled);
}

// What the daemon's fetcher is to the registry's client.
FetchContext TriesAgainItself() {
  FetchContext context;
  context.asker_retries = true;
  return context;
}

Status ReadAs(const ByteSource& source, const FetchContext& context, const std::string& bytes) {
  std::string out(bytes.size(), '\0');
  Status status = source.ReadAt(0, std::as_writable_bytes(std::span(out)), context);
  EXPECT_TRUE(!status.ok() || out == bytes);
  return status;
}

TEST(Reading, WhoTriesAgainItselfHearsOfAFailureAtOnce) {
  ScriptedRegistry registry;
  const std::string bytes = PatternBytes(1000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/blobs/", .effect = [](Answer& answer) { answer = Answer{.status = 503}; }});
  });
  Machine machine;
  auto source = machine.Open(registry, kRepo, blob);
  EXPECT_EQ(ReadAs(*source, TriesAgainItself(), bytes).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(registry.Count("GET", "/blobs/"), 1u);
  EXPECT_THAT(machine.transport().waits(), IsEmpty());

  // Everybody else has the client's own patience.
  EXPECT_EQ(ReadAs(*source, {}, bytes).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(registry.Count("GET", "/blobs/"), 11u);
  EXPECT_THAT(machine.transport().waits(), Contains(Gt(std::chrono::seconds(4))));
}

TEST(Reading, WhoTriesAgainItselfWaitsAllTheSameIfTheServerSaysSo) {
  ScriptedRegistry registry;
  const std::string bytes = PatternBytes(1000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/blobs/", .times = 2, .effect = [](Answer& answer) {
                                 answer = Answer{.status = 429}.With("Retry-After", "7");
                               }});
  });
  Machine machine;
  EXPECT_EQ(ReadAs(*machine.Open(registry, kRepo, blob), TriesAgainItself(), bytes), OkStatus());
  EXPECT_EQ(registry.Count("GET", "/blobs/"), 3u);
  EXPECT_THAT(machine.transport().waits(), AllOf(SizeIs(2), Each(Ge(std::chrono::seconds(7)))));
}

TEST(Reading, AServerThatWantsMoreTimeThanAReaderHasIsNotAskedAgain) {
  ScriptedRegistry registry;
  const std::string bytes = PatternBytes(1000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/blobs/", .effect = [](Answer& answer) {
                                 answer = Answer{.status = 503}.With("Retry-After", "30");
                               }});
  });
  Machine machine;
  FetchContext context = TriesAgainItself();
  context.budget = std::chrono::seconds(20);
  // No status that the fetcher tries again after a moment.
  EXPECT_EQ(ReadAs(*machine.Open(registry, kRepo, blob), context, bytes).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(registry.Count("GET", "/blobs/"), 1u);
}

TEST(Reading, WhoTriesAgainItselfKeepsWhatCameOfABrokenBody) {
  ScriptedRegistry registry;
  const std::string bytes = PatternBytes(100'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back(
        {.part = "/blobs/", .times = 2, .effect = [](Answer& answer) { answer.end_at = 30'000; }});
  });
  Machine machine;
  EXPECT_EQ(ReadAs(*machine.Open(registry, kRepo, blob), TriesAgainItself(), bytes), OkStatus());
  EXPECT_EQ(registry.BlobBytes(), bytes.size());
  EXPECT_THAT(machine.transport().waits(), IsEmpty());
}

// Fill in a long wait would otherwise hold up every read that has to ask where the blob is.
TEST(Reading, AReadDoesNotWaitForAnotherThatWaitsToTryAgain) {
  ScriptedRegistry registry({.redirect_blobs = true});
  const std::string bytes = PatternBytes(1000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back(
        {.part = "/blobs/", .times = 1, .effect = [](Answer& answer) { answer = Answer{.status = 503}; }});
  });
  const auto transport = MakeCurlTransport();  // waits for real
  const auto nobody = MakeAnonymousCredentials();
  RegistryClientOptions options;
  options.retry.first_wait = options.retry.longest_wait = std::chrono::seconds(100);
  const auto client = MakeRegistryClient(*transport, *nobody, options);
  auto source = client->OpenBlob(registry.Reference(kRepo), blob);
  ASSERT_TRUE(source.ok());
  const auto sink = std::make_shared<KeepingSink>();
  FetchContext patient;
  patient.budget = std::chrono::seconds(1000);
  const std::shared_ptr<Transfer> waits = (*source)->StartRead(0, 1000, patient, sink);
  EXPECT_EQ(ReadAs(**source, TriesAgainItself(), bytes), OkStatus());
  waits->Cancel();
  EXPECT_EQ(sink->Wait().status().code(), absl::StatusCode::kCancelled);
}

// They go on behind a read that somebody waits for, so they have its short waits.
TEST(Reading, TokensAreTriedAgainWithinTwoSeconds) {
  ScriptedRegistry registry({.auth = RegistryScript::Auth::kBearer, .anonymous_tokens = true});
  const std::string bytes = PatternBytes(1000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/token", .effect = [](Answer& answer) { answer = Answer{.status = 503}; }});
  });
  Machine machine;
  EXPECT_EQ(ReadAs(*machine.Open(registry, kRepo, blob), TriesAgainItself(), bytes).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(registry.Count("GET", "/token"), 4u);
  EXPECT_THAT(machine.transport().waits(), AllOf(SizeIs(3), Each(Le(std::chrono::seconds(2)))));
}

TEST(Reading, B16_AnAnswerThatNeverComesIsCutAndAskedForAgain) {
  ScriptedRegistry registry;
  std::string bytes = PatternBytes(10'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back(
        {.part = "/blobs/", .times = 1, .effect = [](Answer& answer) { answer.no_answer = true; }});
  });
  Machine machine(MakeAnonymousCredentials(), ShortLimits());
  EXPECT_TRUE(ReadPart(*machine.Open(registry, kRepo, blob), 10, 5000) == bytes.substr(10, 5000));
}

TEST(Reading, B16_AHeadThatStopsHalfWayIsCutAndAskedForAgain) {
  ScriptedRegistry registry;
  std::string bytes = PatternBytes(10'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back(
        {.part = "/blobs/", .times = 1, .effect = [](Answer& answer) { answer.stall_in_head = true; }});
  });
  Machine machine(MakeAnonymousCredentials(), ShortLimits());
  EXPECT_TRUE(ReadPart(*machine.Open(registry, kRepo, blob), 10, 5000) == bytes.substr(10, 5000));
}

TEST(Reading, B16_AStalledBodyIsCutAndContinuedWhereItStopped) {
  ScriptedRegistry registry;
  std::string bytes = PatternBytes(200'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back(
        {.part = "/blobs/", .times = 1, .effect = [](Answer& answer) { answer.stall_at = 120'000; }});
  });
  Machine machine(MakeAnonymousCredentials(), ShortLimits());
  EXPECT_TRUE(ReadPart(*machine.Open(registry, kRepo, blob), 0, 190'000) == bytes.substr(0, 190'000));
  EXPECT_EQ(registry.BlobBytes(), 190'000u);
  EXPECT_EQ(registry.Requests("GET", "/blobs/").back().Header("range"), "bytes=120000-189999");
}

TEST(Reading, B16_ASlowLinkWorks) {
  ScriptedRegistry registry;
  std::string bytes = PatternBytes(40'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/blobs/", .effect = [](Answer& answer) { answer.piece = 50; }});
  });
  Machine machine(MakeAnonymousCredentials(), ShortLimits());
  EXPECT_TRUE(ReadPart(*machine.Open(registry, kRepo, blob), 0, 40'000) == bytes);
  EXPECT_EQ(registry.Count("GET", "/blobs/"), 1u);
}

TEST(Reading, B16_AReaderWaitsNoLongerThanItsBudget) {
  ScriptedRegistry registry;
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(10'000));
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/blobs/", .effect = [](Answer& answer) { answer.no_answer = true; }});
  });
  Machine machine(MakeAnonymousCredentials(), ShortLimits());
  auto source = machine.Open(registry, kRepo, blob);
  std::string out(100, '\0');
  FetchContext context;
  context.budget = std::chrono::milliseconds(1200);
  Status status = source->ReadAt(0, std::as_writable_bytes(std::span(out)), context);
  bool given_up = absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status);
  EXPECT_TRUE(given_up) << status;
}

TEST(Reading, ABrokenBodyIsContinuedByRange) {
  ScriptedRegistry registry({.redirect_blobs = true});
  std::string bytes = PatternBytes(3'000'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.storage_troubles.push_back(
        {.every = 2, .times = 5, .effect = [](Answer& answer) { answer.end_at = 400'000; }});
    script.storage_troubles.push_back(
        {.from = 2, .every = 4, .times = 3, .effect = [](Answer& answer) { answer.end_at = 1; }});
  });
  Machine machine;
  auto read = machine.client().FetchBlob(registry.Reference(kRepo), blob, {});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read == bytes);
  EXPECT_EQ(registry.BlobBytes(), bytes.size()) << "no byte is fetched twice";
}

TEST(Reading, AConnectionThatIsResetIsTriedAgain) {
  ScriptedRegistry registry;
  std::string bytes = PatternBytes(100'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/blobs/", .times = 4, .effect = [](Answer& answer) { answer.reset_at = 20; }});
  });
  Machine machine;
  EXPECT_TRUE(ReadPart(*machine.Open(registry, kRepo, blob), 0, 100'000) == bytes);
}

TEST(Reading, ATornBlobIsFetchedAgainAndALastingOneIsDataLoss) {
  ScriptedRegistry registry;
  std::string bytes = PatternBytes(100'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  auto flip = [](Answer& answer) { answer.flip_bit_at = 77; };
  registry.Change(
      [&](RegistryScript& script) { script.troubles.push_back({.part = "/blobs/", .times = 1, .effect = flip}); });
  Machine machine;
  auto read = machine.client().FetchBlob(registry.Reference(kRepo), blob, {});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read == bytes);
  registry.Change([&](RegistryScript& script) { script.troubles.push_back({.part = "/blobs/", .effect = flip}); });
  read = machine.client().FetchBlob(registry.Reference(kRepo), blob, {});
  EXPECT_TRUE(absl::IsDataLoss(read.status())) << read.status();
}

TEST(Reading, ALargeBlobComesInPartsAndATornPartIsAskedForAgain) {
  ScriptedRegistry registry;
  std::string bytes = PatternBytes(33'000'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back(
        {.part = "/blobs/", .times = 2, .effect = [](Answer& answer) { answer.reset_at = 3'000'000; }});
  });
  Machine machine;
  auto read = machine.client().FetchBlob(registry.Reference(kRepo), blob, {});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read == bytes);
  std::set<std::string> ranges;
  for (const SeenRequest& request : registry.Requests("GET", "/blobs/")) ranges.insert(request.Header("range"));
  EXPECT_THAT(ranges, IsSupersetOf({"bytes=0-10999999", "bytes=11000000-21999999", "bytes=22000000-32999999"}));
}

TEST(Reading, ALargeBlobOfWhichOnePartCannotBeHadIsAnError) {
  ScriptedRegistry registry;
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(20'000'000));
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/blobs/", .from = 2, .effect = [](Answer& answer) { answer.status = 404; }});
  });
  Machine machine;
  auto read = machine.client().FetchBlob(registry.Reference(kRepo), blob, {});
  EXPECT_TRUE(absl::IsNotFound(read.status())) << read.status();
}

TEST(Reading, BodiesWithoutEndAreCut) {
  ScriptedRegistry registry;
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(1000));
  oci::Descriptor manifest = registry.AddManifest(kRepo, "latest", "application/vnd.oci.image.manifest.v1+json", "{}");
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.effect = [](Answer& answer) {
      answer.body += std::string(10'000, 'x');
      answer.endless = true;
    }});
  });
  Machine machine;
  auto document = machine.client().FetchManifest(registry.Reference(kRepo), "latest", {});
  EXPECT_TRUE(absl::IsResourceExhausted(document.status())) << document.status();
  auto read = machine.client().FetchBlob(registry.Reference(kRepo), blob, {});
  EXPECT_FALSE(read.ok()) << "the blob has 1000 bytes and no more";
  auto missing = machine.client().FetchManifest(registry.Reference(kRepo), "missing", {});
  EXPECT_FALSE(missing.ok());
}

TEST(Reading, RedirectsThatGoInCirclesEnd) {
  ScriptedRegistry registry;
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(1000));
  registry.Change([&](RegistryScript& script) {
    script.troubles.push_back({.part = "/blobs/", .effect = [&](Answer& answer) {
                                 answer = Answer{.status = 302}.With("Location",
                                                                     "/v2/team/image/blobs/" + blob.digest.ToString());
                               }});
  });
  Machine machine;
  auto read = machine.client().FetchBlob(registry.Reference(kRepo), blob, {});
  EXPECT_EQ(read.status().code(), absl::StatusCode::kFailedPrecondition) << read.status();
  EXPECT_THAT(read.status().ToString(), HasSubstr("redirects"));
}

TEST(Reading, AStoppedReadEndsAtOnce) {
  ScriptedRegistry registry;
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(10'000));
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/blobs/", .effect = [](Answer& answer) { answer.no_answer = true; }});
  });
  RegistryClientOptions options;
  Machine machine(MakeAnonymousCredentials(), options);
  auto source = machine.Open(registry, kRepo, blob);
  std::stop_source stop;
  FetchContext context;
  context.stop = stop.get_token();
  std::string out(100, '\0');
  std::thread stopper([&] {
    registry.registry().WaitForRequests(2);  // the probe and the read
    stop.request_stop();
  });
  Status status = source->ReadAt(0, std::as_writable_bytes(std::span(out)), context);
  stopper.join();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
}

// Counts what arrives; pauses itself at the first bytes.
class PausingSink : public ByteSink {
 public:
  Status OnBytes(ByteSpan bytes) override {
    std::unique_lock lock(mutex_);
    received_ += AsText(bytes);
    changed_.notify_all();
    // The handle may not have reached us yet.
    changed_.wait(lock, [this] { return transfer_ != nullptr || released_; });
    if (!released_) transfer_->Pause();
    return OkStatus();
  }
  void OnEnd(Status status) override {
    std::lock_guard lock(mutex_);
    ended_ = true;
    status_ = std::move(status);
    changed_.notify_all();
  }
  void SetTransfer(std::shared_ptr<Transfer> transfer) {
    std::lock_guard lock(mutex_);
    transfer_ = std::move(transfer);
    changed_.notify_all();
  }
  size_t WaitForBytes() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !received_.empty(); });
    return received_.size();
  }
  size_t received() {
    std::lock_guard lock(mutex_);
    return received_.size();
  }
  std::string ResumeToTheEnd() {
    std::unique_lock lock(mutex_);
    released_ = true;
    auto transfer = transfer_;
    lock.unlock();
    transfer->Resume();
    lock.lock();
    changed_.wait(lock, [this] { return ended_; });
    EXPECT_TRUE(status_.ok()) << status_;
    transfer_.reset();
    return received_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string received_;
  std::shared_ptr<Transfer> transfer_;
  bool released_ = false;
  bool ended_ = false;
  Status status_;
};

TEST(Reading, APausedReadKeepsStillAndOthersGoOn) {
  ScriptedRegistry registry;
  std::string bytes = PatternBytes(40 << 20);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  Machine machine(MakeAnonymousCredentials(), ShortLimits());
  auto source = machine.Open(registry, kRepo, blob);
  auto sink = std::make_shared<PausingSink>();
  sink->SetTransfer(source->StartRead(0, bytes.size(), {}, sink));
  sink->WaitForBytes();
  // Longer than the stall limit of this machine's transfers would allow, if a pause counted.
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(ReadPart(*source, i * 1000, 1000) == bytes.substr(i * 1000, 1000));
  EXPECT_LE(sink->received(), 1u << 20);
  EXPECT_TRUE(sink->ResumeToTheEnd() == bytes);
}

// The receive buffers of our connections to a server, 0 for those that the kernel sizes as it likes.
std::vector<int> ReceiveBuffers(const ScriptedServer& server) {
  std::vector<int> sizes;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0 || peer.sin_family != AF_INET) continue;
    if ("127.0.0.1:" + std::to_string(ntohs(peer.sin_port)) != server.host()) continue;
    int lock = 0, size = 0;
    length = sizeof lock;
    EXPECT_EQ(::getsockopt(fd, SOL_SOCKET, SO_BUF_LOCK, &lock, &length), 0);
    EXPECT_EQ(::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &length), 0);
    sizes.push_back((lock & SOCK_RCVBUF_LOCK) != 0 ? size : 0);
  }
  return sizes;
}

TEST(Reading, WhatAPausedFillMayStillBringIsBoundedAndADemandOnItsConnectionIsNot) {
  ScriptedRegistry registry;
  std::string bytes = PatternBytes(8 << 20);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  Machine machine(MakeAnonymousCredentials());
  auto source = machine.Open(registry, kRepo, blob);
  std::string out(1 << 20, '\0');
  const auto read = [&](FetchClass fetch_class) {
    FetchContext context;
    context.fetch_class = fetch_class;
    EXPECT_TRUE(source->ReadAt(0, std::as_writable_bytes(std::span(out)), context).ok());
  };
  read(FetchClass::kDemand);
  EXPECT_THAT(ReceiveBuffers(registry.registry()), ElementsAre(0));
  for (FetchClass lower : {FetchClass::kReplay, FetchClass::kReadAhead, FetchClass::kFill}) {
    read(lower);
    EXPECT_THAT(ReceiveBuffers(registry.registry()), ElementsAre(AllOf(Gt(0), Le(1 << 20))));
  }
  read(FetchClass::kDemand);
  EXPECT_THAT(ReceiveBuffers(registry.registry()), ElementsAre(Gt(1 << 20)));
}

TEST(Reading, ASourceOutlivesItsClient) {
  ScriptedRegistry registry;
  std::string bytes = PatternBytes(10'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  FakeClock clock;
  FakeTimeTransport transport(clock);
  auto credentials = MakeAnonymousCredentials();
  auto client = MakeRegistryClient(transport, *credentials);
  auto source = client->OpenBlob(registry.Reference(kRepo), blob);
  client.reset();
  ASSERT_TRUE(source.ok());
  EXPECT_TRUE(ReadPart(**source, 10, 100) == bytes.substr(10, 100));
}

}  // namespace
}  // namespace soci::test
