// Reads during an outage of the registry, through client and fetcher, on a clock that only the test moves.
#include <thread>

#include "fuse/fetch/fetch_scheduler.h"
#include "fuse/fetch/make_layer_fetcher.h"
#include "tests/fakes/fake_backing_store.h"
#include "tests/faults/registry/scenario.h"
#include "tests/layers/indexed_layer.h"
#include "tests/support/tar_builder.h"

namespace soci::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kRepo[] = "team/image";
constexpr int kRefusals = 9;
constexpr SpanId kWanted{1};

class FetchOutage : public ::testing::Test {
 protected:
  explicit FetchOutage(RegistryScript script = {})
      : registry_(std::move(script)),
        source_(machine_.Open(registry_, kRepo, registry_.AddBlob(kRepo, layer_.blob))),
        store_(layer_.table->span_count()),
        scheduler_(machine_.clock()) {
    LayerFetcherOptions options;
    options.host = registry_.host();
    fetcher_ = MakeLayerFetcher(scheduler_, layer_.table, *source_, store_, options);
  }

  void Refuse(const std::string& part, Answer refusal, int times = kRefusals) {
    registry_.Change([&](RegistryScript& script) {
      script.troubles.push_back(
          {.method = "GET", .part = part, .times = times, .effect = [=](Answer& answer) { answer = refusal; }});
    });
  }
  void Get() {
    fetcher_->Get(kWanted, FetchClass::kDemand, [this](Result<std::shared_ptr<const SpanBuffer>> got) {
      if (got.ok()) {
        const std::string_view bytes = AsText((*got)->view()), right = AsText(layer_.Decoded(kWanted));
        outcome_ = bytes == right ? "right" : "wrong";
      } else {
        outcome_ = got.status().ToString();
      }
      answered_.Open();
    });
  }
  // Until transfers have failed so often, and what follows from that is decided.
  void WaitForFailures(uint64_t count) {
    while (scheduler_.counters().faults[static_cast<size_t>(FetchFault::kNetwork)] < count) std::this_thread::yield();
    MutexLock decided(scheduler_.mutex());
  }
  // The read's tries, each within two seconds of the one before, until one succeeds.
  void ExpectTries() {
    for (int refused = 1; refused <= kRefusals; ++refused) {
      WaitForFailures(static_cast<uint64_t>(refused));
      EXPECT_EQ(registry_.Count("GET", "/blobs/"), static_cast<size_t>(refused));
      Advance(seconds(2));  // a try that is due later would never come
    }
    answered_.Wait();
    EXPECT_EQ(outcome_, "right");
    EXPECT_EQ(registry_.Count("GET", "/blobs/"), kRefusals + 1u);
    EXPECT_THAT(machine_.transport().waits(), IsEmpty()) << "nobody waits but the fetcher";
  }
  void Advance(milliseconds time) {
    machine_.clock().Advance(time);
    scheduler_.Wake();
  }

  const IndexedLayer layer_ = MakeIndexedLayer(TarBuilder().File("a", NoiseBytes(40'000, 1)).Finish());
  Machine machine_;
  ScriptedRegistry registry_;
  std::unique_ptr<ByteSource> source_;
  FakeBackingStore store_;
  FetchScheduler scheduler_;
  std::unique_ptr<LayerFetcher> fetcher_;
  Gate answered_;
  std::string outcome_;
};

TEST_F(FetchOutage, F10_AReadIsTriedAgainWithinTwoSecondsHoweverLongTheOutageLasts) {
  Refuse("/blobs/", {.status = 503});
  Get();
  ExpectTries();
}

TEST_F(FetchOutage, F10_AReadThatJoinsFillDoesNotTakeOverItsPatience) {
  Gate joined;
  Refuse("/blobs/", {.status = 503, .before = [&joined] { joined.Wait(); }});
  fetcher_->StartFill([] {});
  while (registry_.Count("GET", "/blobs/") == 0) std::this_thread::yield();
  Get();
  fetcher_->StopFill();  // its own tries are not counted here
  joined.Open();
  ExpectTries();
}

TEST_F(FetchOutage, B15_AThrottledReadWaitsAsLongAsTheServerSaysAndAsksNoMoreThanItMust) {
  Refuse("/blobs/", Answer{.status = 429}.With("Retry-After", "7"), 3);
  Get();
  answered_.Wait();
  EXPECT_EQ(outcome_, "right");
  EXPECT_EQ(registry_.Count("GET", "/blobs/"), 4u);
  EXPECT_THAT(machine_.transport().waits(), AllOf(SizeIs(3), Each(Ge(seconds(7)))));
}

class FetchWithTokens : public FetchOutage {
 protected:
  FetchWithTokens() : FetchOutage({.auth = RegistryScript::Auth::kBearer, .anonymous_tokens = true}) {}
};

TEST_F(FetchWithTokens, F10_AnOutageOfTheTokenServerIsNotWaitedForAnyLonger) {
  Refuse("/token", {.status = 503});
  Get();
  // Each failure of the read is four of the token, with short waits in between.
  for (uint64_t failures = 1; failures <= kRefusals / 4; ++failures) {
    WaitForFailures(failures);
    Advance(seconds(2));
  }
  answered_.Wait();
  EXPECT_EQ(outcome_, "right");
  EXPECT_EQ(registry_.Count("GET", "/token"), kRefusals + 1u);
  EXPECT_THAT(machine_.transport().waits(), Each(::testing::Le(seconds(2))));
}

}  // namespace
}  // namespace soci::test
