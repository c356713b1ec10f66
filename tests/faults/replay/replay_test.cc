// Replay against a registry with bad habits, counted in requests and bytes.
#include <algorithm>
#include <set>
#include <thread>

#include "snapshotter/replay/image_records.h"
#include "snapshotter/replay/replay_plan.h"
#include "tests/faults/replay/replaying_host.h"

namespace soci::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Not;

// Every third file, from the last to the first, now of one layer, now of the other.
Program Backwards() {
  Program program;
  for (int i = kFiles - 1; i >= 0; i -= 3) program.emplace_back(program.size() % 2, i);
  return program;
}

Record RecordOf(const Program& program) {
  ScriptedRegistry registry;
  return ReplayingHost(registry).MakeRecord(program);
}

uint64_t BeginOf(const SeenRequest& request) { return std::stoull(request.Header("range").substr(6)); }

// What a replay asks for, in its order: in which blob, from where to where.
struct Wanted {
  std::string blob;
  uint64_t begin = 0;
  uint64_t end = 0;  // of its own spans; not compared, as neighbours may share a byte
  bool operator==(const Wanted& other) const { return blob == other.blob && begin == other.begin; }
};
std::vector<Wanted> InOrder(const Record& record) {
  std::vector<std::pair<uint64_t, Wanted>> steps;
  for (uint32_t layer = 0; layer < record.layers.size(); ++layer) {
    const LayerTable& table = *ImageLayers()[layer].table;
    for (const ReplayStep& step : PlanReplay(record, layer, table).steps) {
      const SpanId last{static_cast<uint32_t>(ToIndex(step.first)) + step.count - 1};
      steps.push_back({step.position,
                       {record.layers[layer].ToString(), table.Extent(step.first).compressed.begin,
                        table.Extent(last).compressed.end}});
    }
  }
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Wanted> wanted;
  for (const auto& [position, step] : steps) wanted.push_back(step);
  return wanted;
}

class ReplayFromRegistry : public ::testing::Test {
 protected:
  size_t Requests() const { return registry_.Count("GET", "/blobs/"); }
  std::vector<Wanted> Asked() const {
    std::vector<Wanted> asked;
    for (const SeenRequest& request : registry_.Requests("GET", "/blobs/")) {
      asked.push_back({request.path.substr(request.path.rfind('/') + 1), BeginOf(request), 0});
    }
    return asked;
  }
  size_t DistinctRanges() const {
    std::set<std::pair<std::string, uint64_t>> distinct;
    for (const Wanted& range : Asked()) distinct.emplace(range.blob, range.begin);
    return distinct.size();
  }
  void Trouble(test::Trouble trouble) {
    trouble.method = "GET";
    trouble.part = "/blobs/";
    registry_.Change([&](RegistryScript& script) { script.troubles.push_back(trouble); });
  }
  void NoMoreTrouble() {
    registry_.Change([](RegistryScript& script) { script.troubles.clear(); });
  }
  // Of the spans that the record names.
  static uint64_t RecordedBytes(const Record& record) {
    uint64_t bytes = 0;
    for (uint32_t layer = 0; layer < record.layers.size(); ++layer) {
      const LayerTable& table = *ImageLayers()[layer].table;
      for (const ReplayStep& step : PlanReplay(record, layer, table).steps) {
        for (uint32_t i = 0; i < step.count; ++i) {
          bytes += table.Extent(SpanId{static_cast<uint32_t>(ToIndex(step.first)) + i}).compressed.size();
        }
      }
    }
    return bytes;
  }

  ScriptedRegistry registry_;
};

TEST_F(ReplayFromRegistry, RequestsFollowTheOrderOfNeedAndAreAllThatTheProgramNeeds) {
  const Record record = RecordOf(Backwards());
  Gate joined;  // one layer joins before the other
  Trouble({.times = 1, .effect = [&](Answer& answer) { answer.before = [&joined] { joined.Wait(); }; }});
  ReplayingHost host(registry_);
  host.Replay(record, 1);
  joined.Open();
  host.WaitForReplay();
  EXPECT_TRUE(Asked() == InOrder(record));
  const size_t requests = Requests();
  EXPECT_EQ(host.Run(Backwards()), 0);
  EXPECT_EQ(Requests(), requests) << "not one read had to ask";
}

TEST_F(ReplayFromRegistry, TheOrderOfNeedHoldsAcrossLayersHoweverMuchIsAskedForAtOnce) {
  const Record record = RecordOf(Backwards());
  Gate joined;  // by then the first layer has asked for all it needs
  Trouble({.times = 1, .effect = [&](Answer& answer) { answer.before = [&joined] { joined.Wait(); }; }});
  ReplayingHost::Options options;
  options.connections = {.urgent = 1, .total = 1};
  ReplayingHost host(registry_, options);
  host.Replay(record);
  joined.Open();
  host.WaitForReplay();
  EXPECT_TRUE(Asked() == InOrder(record));
}

TEST_F(ReplayFromRegistry, FetchesTheRecordedSpansAndNothingElse) {
  const Record record = RecordOf(Backwards());
  ReplayingHost host(registry_);
  const ImageReplay& replay = host.Replay(record);
  host.WaitForReplay();
  EXPECT_EQ(host.Run(Backwards()), 0);
  EXPECT_LE(registry_.BlobBytes(), RecordedBytes(record) * 11 / 10);
  EXPECT_EQ(replay.Report().bytes, RecordedBytes(record));
}

TEST_F(ReplayFromRegistry, ADemandOvertakesItAndItGoesOnBehindTheProgram) {
  const Record record = RecordOf(Backwards());
  const std::vector<Wanted> steps = InOrder(record);
  ASSERT_EQ(steps.size(), Backwards().size());
  const Wanted demanded = steps[9];
  const File wanted = Backwards()[9];
  ReplayingHost::Options options;
  options.connections = {.urgent = 3, .total = 3};
  ReplayingHost host(registry_, options);
  // The first request to a registry goes alone.
  EXPECT_EQ(host.Run({{0, 2}, {1, 2}}), 0);
  registry_.registry().ForgetRequests();
  // The registry sits on whatever else is asked for.
  Gate gate;
  Trouble({.effect = [&](Answer& answer) {
    for (const auto& [name, value] : answer.headers) {
      if (name != "Content-Range") continue;
      const uint64_t begin = std::stoull(value.substr(6));
      if (begin >= demanded.begin && begin < demanded.end) return;
    }
    answer.before = [&gate] { gate.Wait(); };
  }});
  const ImageReplay& replay = host.Replay(record, 5 * (64 << 10));
  while (Requests() < 3) std::this_thread::yield();

  EXPECT_EQ(host.Read(wanted), ContentOf(wanted)) << "answered while every replay stands still";
  std::vector<Wanted> asked = Asked();
  EXPECT_LE(std::find(asked.begin(), asked.end(), demanded) - asked.begin(), 4) << "not behind what was recorded";
  const size_t before = asked.size();
  gate.Open();
  host.WaitForReplay();
  asked = Asked();
  ASSERT_GT(asked.size(), before);
  // One step stood in line from before, as there are three connections, and takes the first that is free; no more.
  const auto place = [&](const Wanted& range) { return std::find(steps.begin(), steps.end(), range) - steps.begin(); };
  const size_t next = place(asked[before]) < 5 ? before + 1 : before;
  ASSERT_GT(asked.size(), next);
  EXPECT_GT(place(asked[next]), 9) << "it goes on after the program";
  EXPECT_EQ(host.Run(Backwards()), 0);
  EXPECT_EQ(DistinctRanges(), Requests()) << "nothing was fetched twice";
  EXPECT_EQ(replay.Report().counts.misses, 2u) << "two spans that the replay was not at yet";
}

TEST_F(ReplayFromRegistry, TheRegistryGoesInTheMiddleAndComesBack) {
  const Record record = RecordOf(Backwards());
  Gate reached, gone;
  Trouble({.from = 5, .times = 1, .effect = [&](Answer& answer) {
             answer.before = [&] {
               reached.Open();
               gone.Wait();
             };
           }});
  ReplayingHost host(registry_);
  const ImageReplay& replay = host.Replay(record, 1);
  reached.Wait();
  registry_.registry().Close();
  gone.Open();
  // A program starts in the outage.
  Gate answered;
  std::string got;
  host.StartRead(Backwards().back(), [&](std::string bytes) {
    got = std::move(bytes);
    answered.Open();
  });
  host.WaitForFailures(1);
  registry_.registry().Open();
  answered.Wait();
  EXPECT_TRUE(got == ContentOf(Backwards().back())) << got.substr(0, 200);
  EXPECT_EQ(host.Run(Backwards()), 0);
  host.WaitForReplay();
  EXPECT_EQ(replay.Report().counts.given_up, 0u);
}

TEST_F(ReplayFromRegistry, B15_APrefetchThatIsThrottledIsTriedAgainAndSpoilsNothing) {
  const Record record = RecordOf(Backwards());
  Trouble({.from = 3, .every = 3, .effect = [](Answer& answer) {
             answer = Answer{.status = 429}.With("Retry-After", "7");
           }});
  ReplayingHost host(registry_);
  const ImageReplay& replay = host.Replay(record);
  EXPECT_EQ(host.Run(Backwards()), 0);
  host.WaitForReplay();
  EXPECT_EQ(replay.Report().counts.given_up, 0u);
  EXPECT_LE(Requests(), DistinctRanges() * 3 / 2 + 1);
  EXPECT_THAT(host.machine().transport().waits(), Not(IsEmpty()));
  EXPECT_THAT(host.machine().transport().waits(), Each(Ge(std::chrono::seconds(7))));
}

TEST_F(ReplayFromRegistry, B15_APrefetchThatBringsTornBytesSpoilsNothing) {
  const Record record = RecordOf(Backwards());
  Trouble({.every = 2, .effect = [](Answer& answer) { answer.flip_bit_at = 100; }});
  ReplayingHost host(registry_);
  host.Replay(record);
  host.WaitForReplay();
  NoMoreTrouble();
  EXPECT_EQ(host.Run(Backwards()), 0);
}

TEST_F(ReplayFromRegistry, B15_APrefetchThatFailedForGoodLeavesEverythingToTheReads) {
  const Record record = RecordOf(Backwards());
  for (const int status : {503, 403}) {
    NoMoreTrouble();
    Trouble({.effect = [status](Answer& answer) { answer = Answer{.status = status}; }});
    ReplayingHost::Options options;
    options.budget = std::chrono::milliseconds(150);
    ReplayingHost host(registry_, options);
    const ImageReplay& replay = host.Replay(record);
    host.WaitForReplay();
    EXPECT_EQ(replay.Report().counts.came, 0u);
    EXPECT_EQ(replay.Report().counts.given_up, replay.Report().counts.spans);
    NoMoreTrouble();
    for (const File& file : Backwards()) {
      const std::string bytes = host.Read(file);
      EXPECT_TRUE(bytes == ContentOf(file)) << status << ": " << bytes.substr(0, 200);
    }
  }
}

TEST_F(ReplayFromRegistry, ARecordForAnotherImageFetchesNothing) {
  Record other = RecordOf(Backwards());
  for (size_t i = 0; i < other.layers.size(); ++i) {
    other.layers[i] = oci::LayerDigest(oci::Digest::Of("other" + std::to_string(i)));
  }
  ReplayingHost host(registry_);
  EXPECT_FALSE(host.Replay(other).has_layers());
  EXPECT_EQ(host.Run({{0, 1}}), 0);
  EXPECT_LE(Requests(), 2u) << "of the read itself";
}

TEST_F(ReplayFromRegistry, ARecordOfOtherFilesInTheSameLayersFetchesNothing) {
  Record lies = RecordOf(Backwards());
  for (RecordedFile& file : lies.files) file.path = "not/" + file.path;
  ReplayingHost host(registry_);
  const ImageReplay& replay = host.Replay(lies);
  host.WaitForReplay();
  EXPECT_EQ(Requests(), 0u);
  EXPECT_EQ(replay.Report().unknown_extents, lies.extents.size());
}

TEST_F(ReplayFromRegistry, TwoContainersOfOneImageShareOneReplayAndEachSpanComesOnce) {
  const Record record = RecordOf(Backwards());
  ReplayingHost host(registry_);
  const std::string folder = host.folder() + "/records";
  ASSERT_TRUE(RecordStore(folder).Merge(record).ok());
  ImageRecords records(folder, host.clock(), host.program(), {});
  const oci::Reference reference = registry_.Reference(kImage);
  for (const WatchedLayer& layer : host.watched()) records.LayerOpened(layer);
  for (int container = 0; container < 2; ++container) {
    records.ContainerPrepared(reference, {kImage, ImageManifest(), record.layers});
  }
  std::vector<std::thread> containers;
  std::vector<int> wrong(2);
  for (size_t i = 0; i < wrong.size(); ++i) {
    containers.emplace_back([&, i] { wrong[i] = host.Run(Backwards()); });
  }
  for (std::thread& container : containers) container.join();
  EXPECT_THAT(wrong, Each(0));
  while (records.Reports().front().state == "looking" || records.Reports().front().state == "running") {
    std::this_thread::yield();
  }
  EXPECT_EQ(records.Reports().size(), 1u);
  EXPECT_EQ(records.totals().replays_started, 1u);
  EXPECT_LE(registry_.BlobBytes(), RecordedBytes(record) * 11 / 10);
  records.Stop();
}

}  // namespace
}  // namespace soci::test
