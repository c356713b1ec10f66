#include "snapshotter/unpack/ordered_download.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/fakes/fake_byte_source.h"
#include "tests/support/tar_builder.h"

namespace soci {
namespace {

using test::FakeByteSource;

std::string ReadAll(ByteStream& stream, Status& status) {
  std::string all;
  std::byte buffer[700];
  while (true) {
    const auto count = stream.Read(buffer);
    status = count.status();
    if (!count.ok() || *count == 0) return all;
    all += AsText(ByteSpan(buffer).first(*count));
  }
}

TEST(OrderedDownload, RangesThatEndInAnyOrderGiveTheBytesInOrder) {
  const std::string bytes = test::NoiseBytes(2'500, 1);
  FakeByteSource source(bytes);
  DownloadWindow window({.connections = 3, .range = 1'000, .ranges = 3});
  const auto stream = MakeOrderedDownload(source, {}, window);
  Status status;
  std::string got;
  std::thread reader([&] { got = ReadAll(*stream, status); });
  EXPECT_TRUE(source.WaitForReads(3));
  for (const size_t read : {2, 1, 0}) source.Finish(read);
  reader.join();
  EXPECT_EQ(status, OkStatus());
  EXPECT_TRUE(got == bytes);
}

TEST(OrderedDownload, NeverHoldsMoreRangesThanTheWindowHas) {
  FakeByteSource source(test::NoiseBytes(10'000, 2));
  DownloadWindow window({.connections = 8, .range = 1'000, .ranges = 2});
  const auto stream = MakeOrderedDownload(source, {}, window);
  Status status;
  std::thread reader([&] { ReadAll(*stream, status); });
  EXPECT_TRUE(source.WaitForReads(2));
  source.Finish(1);  // fetched, but not to be read before the first
  EXPECT_EQ(source.reads().size(), 2u);
  source.AnswerByItself();
  source.Finish(0);
  reader.join();
  EXPECT_EQ(status, OkStatus());
}

TEST(OrderedDownload, AFailedRangeFailsTheReadThatComesToIt) {
  FakeByteSource source(test::NoiseBytes(2'000, 3));
  DownloadWindow window({.connections = 2, .range = 1'000, .ranges = 2});
  const auto stream = MakeOrderedDownload(source, {}, window);
  Status status;
  std::string got;
  std::thread reader([&] { got = ReadAll(*stream, status); });
  EXPECT_TRUE(source.WaitForReads(2));
  source.Fail(1, absl::UnavailableError("gone"));
  source.Finish(0);
  reader.join();
  EXPECT_EQ(got.size(), 1'000u);
  EXPECT_TRUE(absl::IsUnavailable(status));
}

TEST(OrderedDownload, AnEmptyBlobEndsAtOnce) {
  FakeByteSource source("");
  DownloadWindow window({});
  Status status;
  EXPECT_EQ(ReadAll(*MakeOrderedDownload(source, {}, window), status), "");
  EXPECT_EQ(status, OkStatus());
}

}  // namespace
}  // namespace soci
