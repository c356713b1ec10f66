#include "indexer/base/byte_stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "indexer/base/byte_source.h"
#include "indexer/base/units.h"

namespace soci {
namespace {

std::string Pattern(size_t size) {
  std::string bytes(size, 0);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + (i >> 8));
  return bytes;
}

TEST(SourceStream, DeliversAllBytesOfALocalSourceThroughASmallWindow) {
  const std::string bytes = Pattern(3_MiB + 17);
  auto source = MakeMemorySource(bytes);
  auto stream = MakeSourceStream(*source, {}, 64_KiB);
  std::string got;
  std::string piece(10000, 0);
  for (;;) {
    auto count = stream->Read(std::as_writable_bytes(std::span(piece)));
    ASSERT_TRUE(count.ok()) << count.status();
    if (*count == 0) break;
    got.append(piece, 0, *count);
  }
  EXPECT_EQ(got, bytes);
}

TEST(SourceStream, CanBeDroppedBeforeItsEnd) {
  auto source = MakeMemorySource(Pattern(8_MiB));
  auto stream = MakeSourceStream(*source, {}, 64_KiB);
  std::byte one[1];
  ASSERT_TRUE(stream->Read(one).ok());
}

// A remote source whose network thread is slow to pause: the reader drains the stream and resumes before the pause
// happens.
class SlowToPause : public ByteSource {
 public:
  struct State : Transfer {
    void Pause() override {
      pausing.count_down();
      resumed.wait();
      paused = true;
    }
    void Resume() override {
      paused = false;
      if (!counted.exchange(true)) resumed.count_down();
    }
    void Cancel() override {}
    std::latch pausing{1};
    std::latch resumed{1};
    std::atomic<bool> counted{false};
    std::atomic<bool> paused{false};
  };

  ~SlowToPause() override { network.join(); }
  uint64_t size() const override { return 64_KiB; }
  Status ReadAt(uint64_t, MutableByteSpan, const FetchContext&) const override { return OkStatus(); }
  std::shared_ptr<Transfer> StartRead(uint64_t, uint64_t, const FetchContext&,
                                      std::shared_ptr<ByteSink> sink) const override {
    network = std::thread([this, sink] {
      EXPECT_TRUE(sink->OnBytes(AsBytes(Pattern(64_KiB))).ok());
      EXPECT_FALSE(state->paused);
      sink->OnEnd(OkStatus());
    });
    return state;
  }

  std::shared_ptr<State> state = std::make_shared<State>();
  mutable std::thread network;
};

TEST(SourceStream, AResumeThatOvertakesItsPauseIsNotLost) {
  SlowToPause source;
  auto stream = MakeSourceStream(source, {}, 64_KiB);
  std::string bytes(64_KiB, 0);
  source.state->pausing.wait();
  auto count = stream->Read(std::as_writable_bytes(std::span(bytes)));
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(*count, 64_KiB);
  EXPECT_EQ(stream->Read(std::as_writable_bytes(std::span(bytes))).value(), 0u);
}

TEST(ByteSource, ReadPastTheEndIsOutOfRange) {
  auto source = MakeMemorySource("abc");
  std::byte two[2];
  EXPECT_EQ(source->ReadAt(2, two, {}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(source->ReadAt(~uint64_t{0}, two, {}).code(), absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace soci
