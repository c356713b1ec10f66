#include "snapshotter/replay/image_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "indexer/record/record_builder.h"
#include "tests/fakes/fake_backing_store.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_layer_table.h"
#include "tests/unit/snapshotter/replay/hand_fetcher.h"

namespace soci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kSpan = 1 << 20;
constexpr uint32_t kSpans = 40;

oci::LayerDigest LayerOf(int number) { return oci::LayerDigest(oci::Digest::Of("layer" + std::to_string(number))); }

// One layer of one file, a span to each of its MiB.
struct Layer {
  explicit Layer(int number) {
    table->SetLayer(LayerOf(number));
    table->SetSpans(kSpans, kSpan);
    auto& file = table->File("f", "");
    file.attributes.size = kSpans * kSpan;
    file.attributes.content = {0, kSpans * kSpan};
    table->Number();
    reads = std::make_unique<FirstReads>(table);
  }
  WatchedLayer Watched() { return {table->layer(), table, &store, &fetcher, reads.get()}; }
  // What the program does.
  void Read(uint32_t span, bool missed) {
    reads->OnRead({InodeId{2}, span * kSpan, {span * kSpan, span * kSpan + 4096}, missed});
  }

  std::shared_ptr<test::FakeLayerTable> table = std::make_shared<test::FakeLayerTable>();
  test::FakeBackingStore store{kSpans};
  test::HandFetcher fetcher;
  std::unique_ptr<FirstReads> reads;
};

class ImageReplayTest : public ::testing::Test {
 protected:
  ImageReplayTest() {
    for (int i = 0; i < 2; ++i) layers_.emplace_back(i);
  }
  ~ImageReplayTest() override {
    for (Layer& layer : layers_) {
      if (replay_ != nullptr) replay_->Leave(layer.table->layer());
      layer.fetcher.AnswerAll(absl::CancelledError("the end"));
    }
  }

  // The program needs a page of each span, these seconds apart: too far for neighbours to go together.
  void Need(int layer, const std::vector<uint32_t>& spans) {
    for (const uint32_t span : spans) {
      builder_.Add(layers_[layer].table->layer(), "f", kSpans * kSpan, span * kSpan, 4096, ++seconds_ * 1'000'000);
    }
  }
  void Start(uint64_t window = 2 * kSpan) { StartWith(builder_.Build(), window); }
  void StartWith(const Record& record, uint64_t window = 2 * kSpan) {
    ImageReplay::Options options;
    options.window = window;
    replay_ = std::make_shared<ImageReplay>("image", record, clock_, program_, options);
  }
  void JoinAll() {
    for (Layer& layer : layers_) replay_->Join(layer.Watched());
  }
  ReplayCounts counts() const { return replay_->Report().counts; }

  FakeClock clock_;
  ProgramClock program_{clock_};
  std::deque<Layer> layers_;
  RecordBuilder builder_{oci::Digest::Of("image"), {LayerOf(0), LayerOf(1)}};
  uint64_t seconds_ = 0;
  std::shared_ptr<ImageReplay> replay_;
};

TEST_F(ImageReplayTest, AsksInOrderOfNeedAcrossLayersAndNoFurtherAheadThanTheWindow) {
  Need(0, {30});
  Need(1, {5});
  Need(0, {2, 20});
  Start(2 * kSpan);
  JoinAll();
  // Layer 0 was there first; what layer 1 needs sooner than the last of that is asked for all the same.
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(30, 2));
  EXPECT_THAT(layers_[1].fetcher.asked(), ElementsAre(5));
  EXPECT_THAT(layers_[0].fetcher.due(), ElementsAre(0, 2));
  EXPECT_THAT(layers_[1].fetcher.due(), ElementsAre(1)) << "and its place in the record goes with it";
  layers_[0].fetcher.Answer(30);
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(30, 2));
  layers_[1].fetcher.Answer(5);
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(30, 2, 20));
  EXPECT_FALSE(replay_->ended());
  layers_[0].fetcher.AnswerAll();
  EXPECT_TRUE(replay_->ended());
  EXPECT_EQ(replay_->Report().state, "done");
  EXPECT_EQ(replay_->Report().bytes, 4 * kSpan);
  EXPECT_EQ(counts().came, 4u);
}

TEST_F(ImageReplayTest, TheFirstNeedsOfALateLayerAreAskedForThoughTheWindowIsFull) {
  Need(1, {5, 6});
  for (uint32_t span = 0; span < 10; ++span) Need(0, {3 * span});
  Need(1, {20, 21});
  Start(3 * kSpan);
  replay_->Join(layers_[0].Watched());
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(0, 3, 6));
  replay_->Join(layers_[1].Watched());
  EXPECT_THAT(layers_[1].fetcher.asked(), ElementsAre(5, 6));
  layers_[1].fetcher.AnswerAll();
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(0, 3, 6)) << "its own window is as full as before";
}

TEST_F(ImageReplayTest, WhatTheProgramPassedOverIsDueLast) {
  Need(0, {1, 2, 3, 4, 5});
  Start(kSpan);
  JoinAll();
  layers_[0].Read(3, true);
  for (const uint32_t span : {1, 4, 5, 2}) layers_[0].fetcher.Answer(span);
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(1, 4, 5, 2, 3));
  const std::vector<int64_t> due = layers_[0].fetcher.due();
  EXPECT_TRUE(std::is_sorted(due.begin() + 1, due.end()));
  EXPECT_LT(due.back(), due.front()) << "what waits from before goes after all of them";
}

TEST_F(ImageReplayTest, NeverAsksForWhatIsLocal) {
  Need(0, {1, 2, 3});
  ASSERT_TRUE(layers_[0].store.WriteSpan(SpanId{2}, {}).ok());
  Start();
  JoinAll();
  layers_[0].fetcher.AnswerAll();
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(1, 3));
  EXPECT_EQ(counts().local, 1u);
  EXPECT_EQ(counts().came, 2u);
  EXPECT_EQ(replay_->Report().state, "done");
}

TEST_F(ImageReplayTest, WhatSomebodyElseFetchedMeanwhileHasCome) {
  Need(0, {1, 2});
  Start();
  layers_[0].fetcher.AnswerAtOnce(absl::AlreadyExistsError("it is in the store"));
  JoinAll();
  EXPECT_EQ(counts().came, 2u);
  EXPECT_EQ(replay_->Report().bytes, 0u) << "nothing was fetched for it";
  EXPECT_EQ(replay_->Report().state, "done");
}

TEST_F(ImageReplayTest, AnswersFromWithinTheCallAreTaken) {
  for (uint32_t span = 0; span < kSpans; ++span) Need(0, {span});
  Start();
  layers_[0].fetcher.AnswerAtOnce(OkStatus());
  JoinAll();
  EXPECT_EQ(counts().came, kSpans);
  EXPECT_EQ(replay_->Report().state, "done");
}

TEST_F(ImageReplayTest, WhatFailedForATimeIsAskedForAgainAndNotForEver) {
  Need(0, {1, 2});
  Start(kSpan);
  JoinAll();
  layers_[0].fetcher.Answer(1, absl::UnavailableError("the registry is gone"));
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(1, 1)) << "at its place";
  for (int i = 0; i < 4; ++i) layers_[0].fetcher.Answer(1, absl::DeadlineExceededError("no answer"));
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(1, 1, 1, 1, 1, 2));
  layers_[0].fetcher.Answer(2);
  EXPECT_EQ(counts().given_up, 1u);
  EXPECT_EQ(counts().came, 1u);
  EXPECT_EQ(replay_->Report().state, "done");
}

TEST_F(ImageReplayTest, WhatCannotBeHadIsNotAskedForAgain) {
  Need(0, {1, 2});
  Start(kSpan);
  JoinAll();
  layers_[0].fetcher.Answer(1, absl::DataLossError("bytes that do not match"));
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(1, 2));
  layers_[0].fetcher.Answer(2);
  EXPECT_EQ(counts().given_up, 1u);
}

TEST_F(ImageReplayTest, TellsWhatItDidForTheProgram) {
  Need(0, {1, 2, 3});
  Start(kSpan);
  JoinAll();
  clock_.Advance(std::chrono::milliseconds(70));
  layers_[0].fetcher.Answer(1);
  layers_[0].Read(1, false);  // came before it was needed
  layers_[0].Read(2, true);   // is on its way
  layers_[0].Read(3, true);   // not asked for yet
  layers_[0].Read(9, true);   // not in the record
  EXPECT_EQ(counts().hits, 1u);
  EXPECT_EQ(counts().late, 1u);
  EXPECT_EQ(counts().misses, 1u);
  EXPECT_EQ(counts().unexpected, 1u);
  EXPECT_EQ(replay_->Report().time_won, std::chrono::milliseconds(70));
}

TEST_F(ImageReplayTest, StopsOnceTheProgramIsPastTheEndOfTheRecord) {
  Need(0, {1, 2, 3, 4});
  Start(kSpan);
  JoinAll();
  layers_[0].Read(4, true);
  layers_[0].fetcher.AnswerAll();
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(1));
  EXPECT_EQ(replay_->Report().state, "overtaken");
}

TEST_F(ImageReplayTest, StopsAndSaysSoWhenTheProgramNeedsOtherThings) {
  Need(0, {0, 1, 2, 3});
  Start(kSpan);
  JoinAll();
  for (uint32_t span = 10; span < 36; ++span) layers_[0].Read(span, true);
  layers_[0].fetcher.AnswerAll();
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(0));
  EXPECT_EQ(replay_->Report().state, "wrong");
  EXPECT_THAT(replay_->Report().reason, HasSubstr("24 spans that are not in the record"));
}

TEST_F(ImageReplayTest, ARecordForOtherLayersFetchesNothing) {
  RecordBuilder other(oci::Digest::Of("another image"), {LayerOf(7)});
  other.Add(LayerOf(7), "f", kSpans * kSpan, 0, 4096, 0);
  StartWith(other.Build());
  JoinAll();
  EXPECT_THAT(layers_[0].fetcher.asked(), IsEmpty());
  EXPECT_FALSE(replay_->has_layers());
}

TEST_F(ImageReplayTest, ARecordThatLiesAboutFilesFetchesNothingOfThem) {
  builder_.Add(LayerOf(0), "f", kSpans * kSpan + 1, 0, 4096, 0);  // of another size
  builder_.Add(LayerOf(0), "nowhere", 8192, 0, 4096, 0);
  builder_.Add(LayerOf(1), "f", kSpans * kSpan, 0, 4096, 0);
  Start();
  JoinAll();
  EXPECT_THAT(layers_[0].fetcher.asked(), IsEmpty());
  EXPECT_THAT(layers_[1].fetcher.asked(), ElementsAre(0));
  EXPECT_EQ(replay_->Report().unknown_extents, 2u);
}

TEST_F(ImageReplayTest, GoesOnWithoutALayerThatLeaves) {
  Need(0, {1, 2});
  Need(1, {3, 4});
  Start(kSpan);
  JoinAll();
  replay_->Leave(LayerOf(0));
  layers_[0].fetcher.AnswerAll(absl::CancelledError("the layer goes away"));
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(1));
  layers_[1].fetcher.Answer(3);
  layers_[1].fetcher.Answer(4);
  EXPECT_EQ(counts().came, 2u);
}

TEST_F(ImageReplayTest, WhatALayerThatLeavesHadUnderWayIsNotWaitedFor) {
  Need(0, {1, 2});
  Need(1, {3});
  Start(8 * kSpan);
  JoinAll();
  layers_[1].fetcher.Answer(3);
  replay_->Leave(LayerOf(0));
  EXPECT_EQ(replay_->Report().state, "done") << "of what is there";
}

TEST_F(ImageReplayTest, ALayerThatLeavesAndComesAgainIsReplayedAnew) {
  Need(0, {1, 2, 3});
  Start(2 * kSpan);
  JoinAll();
  layers_[0].fetcher.Answer(1);
  replay_->Leave(LayerOf(0));
  Layer again(0);  // and with nothing of what the first had
  replay_->Join(again.Watched());
  EXPECT_THAT(again.fetcher.asked(), ElementsAre(1)) << "the window is still that of the first one's requests";
  layers_[0].fetcher.AnswerAll(absl::CancelledError("the layer goes away"));
  EXPECT_THAT(again.fetcher.asked(), ElementsAre(1, 2));
  again.fetcher.AnswerAll();
  again.fetcher.AnswerAll();
  EXPECT_THAT(again.fetcher.asked(), ElementsAre(1, 2, 3));
  EXPECT_EQ(counts().spans, 3u);
  EXPECT_EQ(counts().came, 3u);
  EXPECT_EQ(counts().given_up, 0u);
  EXPECT_EQ(replay_->Report().state, "done");
  replay_->Leave(LayerOf(0));
}

TEST_F(ImageReplayTest, AStoppedReplayAsksForNothingMore) {
  Need(0, {1, 2});
  Start(kSpan);
  JoinAll();
  replay_->Stop("the daemon stops");
  layers_[0].fetcher.AnswerAll();
  EXPECT_THAT(layers_[0].fetcher.asked(), ElementsAre(1));
  EXPECT_EQ(replay_->Report().state, "stopped");
  EXPECT_EQ(replay_->Report().reason, "the daemon stops");
}

TEST_F(ImageReplayTest, LayersMayLeaveWhileAnswersComeAndTheProgramReads) {
  std::vector<uint32_t> all(kSpans);
  for (uint32_t span = 0; span < kSpans; ++span) all[span] = span;
  Need(0, all);
  Need(1, all);
  Start(8 * kSpan);
  JoinAll();
  std::thread answers([this] {
    for (int i = 0; i < 200; ++i) {
      for (Layer& layer : layers_) layer.fetcher.AnswerAll();
    }
  });
  std::thread program([this] {
    for (uint32_t span = 0; span < kSpans; ++span) {
      for (Layer& layer : layers_) layer.Read(span, span % 2 == 0);
    }
  });
  replay_->Leave(LayerOf(0));
  answers.join();
  program.join();
  EXPECT_EQ(counts().given_up, 0u);
  EXPECT_LE(replay_->Report().bytes, 2 * kSpans * kSpan);
}

}  // namespace
}  // namespace soci
