// A read that waits comes before fill, through a real mount, as counts of requests: what is asked for, what stands
// still, and what goes on afterwards.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <thread>

#include "indexer/base/file_io.h"
#include "tests/fakes/fake_byte_source.h"
#include "tests/lazy/lazy_mount.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using test::FakeByteSource;
using test::IndexedLayer;
using Reads = std::vector<FakeByteSource::Seen>;

constexpr uint64_t kSpan = 64 << 10, kRange = 4 * kSpan, kSize = 16 << 20, kRounds = 10;
constexpr uint32_t kConnections = 4;

IndexedLayer BigFile(uint32_t seed) {
  return test::MakeIndexedLayer(test::TarBuilder().File("big", test::NoiseBytes(kSize, seed)).Finish(),
                                {.compression = Compression::kUncompressed, .span_size = kSpan});
}

FetchSchedulerOptions FewConnections() {
  FetchSchedulerOptions options;
  options.connections.urgent = 2;
  options.connections.total = kConnections;
  return options;
}

size_t UnderWay(const Reads& reads) {
  return static_cast<size_t>(std::count_if(reads.begin(), reads.end(), [](const auto& read) { return !read.ended; }));
}
size_t Flowing(const Reads& reads) {
  return static_cast<size_t>(
      std::count_if(reads.begin(), reads.end(), [](const auto& read) { return !read.ended && !read.paused; }));
}
bool SomebodyWaits(const Reads& reads) {
  return std::any_of(reads.begin(), reads.end(),
                     [](const auto& read) { return !read.ended && read.fetch_class == FetchClass::kDemand; });
}

class Foreground : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
    parts_ = std::make_unique<test::LazyParts>(FewConnections());
    read_ = std::make_unique<test::LazyMount>(*parts_, root_ / "read", read_layer_,
                                              test::LazyMount::Origin{&read_source_, kRange});
    filled_ = std::make_unique<test::LazyMount>(*parts_, root_ / "filled", filled_layer_,
                                                test::LazyMount::Origin{&fill_source_, kRange});
  }
  void TearDown() override {
    read_source_.AnswerByItself();
    fill_source_.AnswerByItself();
    for (FakeByteSource* source : {&read_source_, &fill_source_}) FinishAll(*source);
  }

  static void FinishAll(FakeByteSource& source) {
    const Reads reads = source.reads();
    for (size_t i = 0; i < reads.size(); ++i) {
      if (!reads[i].ended) source.Finish(i);
    }
  }
  // The first two that are under way, to their ends: what of them had been sent.
  void FinishTwoOfFill() {
    const uint32_t present = filled_->store().present_count();
    const Reads reads = fill_source_.reads();
    for (size_t i = 0, done = 0; i < reads.size() && done < 2; ++i) {
      if (reads[i].ended) continue;
      fill_source_.Finish(i);
      ++done;
    }
    // The scheduler has looked at it all many times when their spans are on the disk.
    while (filled_->store().present_count() < present + 2 * kRange / kSpan) std::this_thread::yield();
  }
  bool FillIsAtFullQueue() {
    return fill_source_.WaitUntil([](const Reads& reads) { return Flowing(reads) == kConnections; });
  }

  const test::TemporaryDirectory root_;
  const IndexedLayer read_layer_ = BigFile(1), filled_layer_ = BigFile(2);
  FakeByteSource read_source_{read_layer_.blob}, fill_source_{filled_layer_.blob};
  std::unique_ptr<test::LazyParts> parts_;
  std::unique_ptr<test::LazyMount> read_, filled_;
};

TEST_F(Foreground, AColdReadIsAskedForAtOnceAndFillStandsStillUntilItIsAnswered) {
  const std::string content = test::NoiseBytes(kSize, 1);
  const UniqueFd file = *OpenFile(read_->path() + "/big", O_RDONLY);
  ASSERT_EQ(::posix_fadvise(file.get(), 0, 0, POSIX_FADV_RANDOM), 0);
  filled_->BeginFill();
  for (uint64_t round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(FillIsAtFullQueue()) << round;
    const size_t fills = fill_source_.reads().size();
    const uint64_t begin = (round * 97 % 256) * kSpan + 8192;
    auto page = std::async(std::launch::async, [&]() -> std::string {
      std::string bytes(4096, '\0');
      const ssize_t count = ::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(begin));
      return bytes.substr(0, static_cast<size_t>(std::max<ssize_t>(count, 0)));
    });
    // All connections of fill are taken, and not one of them gets free before.
    EXPECT_TRUE(read_source_.WaitUntil(SomebodyWaits)) << round;
    EXPECT_TRUE(fill_source_.WaitUntil([](const Reads& reads) { return Flowing(reads) <= 1; })) << round;
    FinishTwoOfFill();
    EXPECT_EQ(fill_source_.reads().size(), fills) << round << ": fill went on while somebody waited";
    EXPECT_LE(UnderWay(fill_source_.reads()), kConnections - 2) << round;
    while (page.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) FinishAll(read_source_);
    EXPECT_TRUE(page.get() == content.substr(begin, 4096)) << round;
    FinishAll(read_source_);  // guesses
  }
  EXPECT_TRUE(FillIsAtFullQueue()) << "fill goes on when nobody waits";
}

}  // namespace
}  // namespace soci
