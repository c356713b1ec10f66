#include "snapshotter/replay/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fuse/layer/first_reads.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_layer_table.h"

namespace soci {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kFile = 10 << 20;
constexpr uint64_t kPage = kRecordPage;

oci::LayerDigest LayerOf(int number) { return oci::LayerDigest(oci::Digest::Of("layer" + std::to_string(number))); }
oci::Digest Image(const std::string& name) { return oci::Digest::Of(name); }

// Files dir/0 to dir/3, one behind the other; their inodes are 3 to 6.
struct Layer {
  explicit Layer(int number) {
    table->SetLayer(LayerOf(number));
    table->Directory("dir");
    for (uint64_t i = 0; i < 4; ++i) {
      auto& file = table->File("dir/" + std::to_string(i), "");
      file.attributes.size = kFile;
      file.attributes.content = {i * kFile, (i + 1) * kFile};
    }
    table->SetSpans(40, 1 << 20);
    table->Number();
    reads = std::make_unique<FirstReads>(table);
  }
  WatchedLayer Watched() const { return {table->layer(), table, nullptr, nullptr, reads.get()}; }
  void Read(uint64_t file, uint64_t offset, uint64_t size = kPage) {
    const uint64_t begin = file * kFile + offset;
    reads->OnRead({InodeId{3 + file}, offset, {begin, begin + size}, true});
  }

  std::shared_ptr<test::FakeLayerTable> table = std::make_shared<test::FakeLayerTable>();
  std::unique_ptr<FirstReads> reads;
};

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    options_.quiet = seconds(5);
    options_.idle = seconds(100);
    for (int i = 0; i < 2; ++i) layers_.emplace_back(i);
  }

  Recorder& recorder() {
    if (recorder_ == nullptr) {
      recorder_ =
          std::make_unique<Recorder>(program_, options_, [this](const std::string& image, const Record& record) {
            names_.push_back(image);
            records_.push_back(record);
          });
    }
    return *recorder_;
  }
  void Start(const std::string& image = "image") {
    std::vector<WatchedLayer> open;
    for (const Layer& layer : layers_) open.push_back(layer.Watched());
    recorder().Start({image, Image(image), {LayerOf(0), LayerOf(1)}}, open);
  }
  void Pass(milliseconds time) {
    clock_.Advance(time);
    recorder().Tick();
  }
  // "layer/path offset+size @think" of each extent, in KiB and ms.
  static std::vector<std::string> Lines(const Record& record) {
    std::vector<std::string> lines;
    for (const RecordedExtent& extent : record.extents) {
      const RecordedFile& file = record.files[extent.file];
      lines.push_back(std::to_string(file.layer) + "/" + file.path + " " + std::to_string(extent.offset >> 10) + "+" +
                      std::to_string(extent.size >> 10) + " @" + std::to_string(extent.think_us / 1000));
    }
    return lines;
  }

  FakeClock clock_;
  ProgramClock program_{clock_};
  std::deque<Layer> layers_;
  Recorder::Options options_;
  std::vector<std::string> names_;
  std::vector<Record> records_;
  std::unique_ptr<Recorder> recorder_;  // last: it ends its runs
};

TEST_F(RecorderTest, WritesWhatWasReadFirstInOrderOfNeedAndWhatTheProgramWorkedInBetween) {
  Start();
  layers_[1].Read(2, 1 << 20);
  Pass(milliseconds(30));
  layers_[0].Read(0, 0, 2 * kPage);
  Pass(milliseconds(10));
  layers_[1].Read(2, 1 << 20);  // known
  layers_[1].Read(3, 4096);
  Pass(seconds(6));
  ASSERT_EQ(records_.size(), 1u);
  EXPECT_EQ(names_.front(), "image");
  EXPECT_EQ(records_.front().manifest, Image("image"));
  EXPECT_TRUE(CheckRecord(records_.front()).ok());
  EXPECT_THAT(Lines(records_.front()), ElementsAre("1/dir/2 1024+4 @0", "0/dir/0 0+8 @30", "1/dir/3 4+4 @10"));
}

TEST_F(RecorderTest, TheTimeThatReadsWaitForTheNetworkIsNoThinkTimeNorQuiet) {
  Start();
  layers_[0].Read(0, 0);
  {
    const ProgramClock::Wait wait(program_);
    Pass(seconds(60));
  }
  EXPECT_TRUE(recorder().IsRecording(Image("image")));
  Pass(milliseconds(20));
  layers_[0].Read(1, 0);
  Pass(seconds(6));
  ASSERT_EQ(records_.size(), 1u);
  EXPECT_THAT(Lines(records_.front()), ElementsAre("0/dir/0 0+4 @0", "0/dir/1 0+4 @20"));
}

TEST_F(RecorderTest, EndsWhenNothingNewIsReadHoweverMuchIsReadAgain) {
  Start();
  layers_[0].Read(0, 0);
  for (int i = 0; i < 4; ++i) {
    Pass(seconds(1));
    layers_[0].Read(0, 0);
  }
  EXPECT_TRUE(recorder().IsRecording(Image("image")));
  Pass(seconds(1));
  EXPECT_FALSE(recorder().IsRecording(Image("image")));
  EXPECT_TRUE(recorder().idle());
  layers_[0].Read(3, 0);
  EXPECT_EQ(Lines(records_.at(0)).size(), 1u) << "what comes after the end is in no record";
}

TEST_F(RecorderTest, EndsWhenEnoughWasRead) {
  options_.most_bytes = 3 << 20;
  Start();
  layers_[0].Read(0, 0, 1 << 20);
  Pass(milliseconds(1));
  EXPECT_THAT(records_, IsEmpty());
  layers_[0].Read(1, 0, 2 << 20);
  Pass(milliseconds(1));
  EXPECT_EQ(records_.size(), 1u);
}

TEST_F(RecorderTest, AContainerThatReadsNothingMakesNoRecord) {
  Start();
  Pass(seconds(99));
  EXPECT_TRUE(recorder().IsRecording(Image("image")));
  Pass(seconds(2));
  EXPECT_FALSE(recorder().IsRecording(Image("image")));
  EXPECT_THAT(records_, IsEmpty());
}

TEST_F(RecorderTest, NotesAreBoundedAndTheFirstAreKept) {
  options_.most_notes = 3;
  Start();
  for (uint64_t i = 0; i < 10; ++i) layers_[0].Read(0, i << 20);
  Pass(milliseconds(0));
  ASSERT_EQ(records_.size(), 1u);
  EXPECT_THAT(Lines(records_.front()), ElementsAre("0/dir/0 0+4 @0", "0/dir/0 1024+4 @0", "0/dir/0 2048+4 @0"));
}

TEST_F(RecorderTest, TwoContainersOfOneImageMakeOneRecord) {
  Start();
  layers_[0].Read(0, 0);
  Start();
  layers_[0].Read(1, 0);
  EXPECT_EQ(recorder().Finish(std::nullopt), 1u);
  ASSERT_EQ(records_.size(), 1u);
  EXPECT_EQ(records_.front().extents.size(), 2u);
}

TEST_F(RecorderTest, ImagesThatShareLayersAreRecordedEachForItself) {
  Start("one");
  layers_[0].Read(0, 0);
  Start("two");
  layers_[0].Read(0, 0);  // no news for the first
  layers_[1].Read(1, 0);
  EXPECT_EQ(recorder().Finish(Image("one")), 1u);
  EXPECT_EQ(recorder().Finish(Image("one")), 0u);
  layers_[1].Read(2, 0);
  EXPECT_EQ(recorder().Finish(std::nullopt), 1u);
  EXPECT_THAT(names_, ElementsAre("one", "two"));
  EXPECT_EQ(Lines(records_.at(0)).size(), 2u);
  EXPECT_EQ(Lines(records_.at(1)).size(), 3u);
}

TEST_F(RecorderTest, OnlySoManyAreRecordedAtOnce) {
  options_.most_runs = 2;
  for (const char* image : {"one", "two", "three"}) Start(image);
  layers_[0].Read(0, 0);
  EXPECT_FALSE(recorder().IsRecording(Image("three")));
  EXPECT_EQ(recorder().Finish(std::nullopt), 2u);
}

TEST_F(RecorderTest, ALayerThatComesLateIsWatchedAndOneThatGoesIsKept) {
  recorder().Start({"image", Image("image"), {LayerOf(0), LayerOf(1)}}, {});
  recorder().LayerOpened(layers_[0].Watched());
  layers_[0].Read(0, 0);
  recorder().LayerClosing(LayerOf(0));
  layers_[0].Read(1, 0);
  recorder().LayerOpened(layers_[1].Watched());
  layers_[1].Read(2, 0);
  recorder().Finish(std::nullopt);
  ASSERT_EQ(records_.size(), 1u);
  EXPECT_THAT(Lines(records_.front()), ElementsAre("0/dir/0 0+4 @0", "1/dir/2 0+4 @0"));
}

TEST_F(RecorderTest, ALayerOfAnotherImageIsNotWatched) {
  recorder().Start({"image", Image("image"), {LayerOf(0)}}, {layers_[0].Watched(), layers_[1].Watched()});
  recorder().LayerOpened(layers_[1].Watched());
  layers_[1].Read(0, 0);
  layers_[0].Read(0, 0);
  recorder().Finish(std::nullopt);
  ASSERT_EQ(records_.size(), 1u);
  EXPECT_THAT(Lines(records_.front()), ElementsAre("0/dir/0 0+4 @0"));
}

TEST_F(RecorderTest, TheEndOfTheRecorderIsTheEndOfItsRuns) {
  Start();
  layers_[0].Read(0, 0);
  recorder_.reset();
  EXPECT_EQ(records_.size(), 1u);
}

TEST_F(RecorderTest, ProgramsMayReadWhileItEnds) {
  Start();
  std::vector<std::thread> programs;
  for (uint64_t file = 0; file < 4; ++file) {
    programs.emplace_back([this, file] {
      for (uint64_t offset = 0; offset < kFile; offset += 1 << 16) {
        for (Layer& layer : layers_) layer.Read(file, offset);
      }
    });
  }
  while (recorder().Finish(Image("image")) == 0) std::this_thread::yield();
  for (std::thread& program : programs) program.join();
  for (const Record& record : records_) EXPECT_TRUE(CheckRecord(record).ok());
}

}  // namespace
}  // namespace soci
