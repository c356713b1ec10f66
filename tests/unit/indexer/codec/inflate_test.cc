#include "indexer/codec/inflate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "tests/gzip/gzip_maker.h"

namespace soci::deflate {
namespace {

struct Outcome {
  Inflater::Stop stop = Inflater::Stop::kDamaged;
  std::string decoded;
};

// Memory of exactly the size that is promised, on both sides, so that a sanitizer sees one byte more.
Outcome RunInflater(const std::string& bytes, size_t room) {
  const size_t input_size = bytes.size() + kInputSlack;
  const auto in = std::make_unique<uint8_t[]>(input_size);
  const auto out = std::make_unique<uint8_t[]>(room + kOutputSlack);
  std::memcpy(in.get(), bytes.data(), bytes.size());
  const auto inflater = std::make_unique<Inflater>();
  inflater->Begin();
  Input input{in.get(), in.get() + bytes.size(), true};
  Output output{out.get(), out.get() + room, out.get()};
  Outcome outcome;
  do {
    outcome.stop = inflater->Step(input, output);
  } while (outcome.stop == Inflater::Stop::kBlock);
  EXPECT_LE(output.next, out.get() + room + kOutputSlack);
  outcome.decoded.assign(reinterpret_cast<const char*>(out.get()), static_cast<size_t>(output.next - out.get()));
  return outcome;
}

class Inflate : public ::testing::Test {
 protected:
  std::mt19937 random_{11};
};

TEST_F(Inflate, GivesWhatWasDeflated) {
  for (int i = 0; i < 100; ++i) {
    const std::string bytes = test::RandomBytes(random_() % 50'000, random_);
    const Outcome outcome = RunInflater(test::Deflate(bytes, test::RandomRecipe(random_)), bytes.size() + 1);
    ASSERT_EQ(outcome.stop, Inflater::Stop::kEnd) << i;
    ASSERT_TRUE(outcome.decoded == bytes) << i;
  }
}

TEST_F(Inflate, StopsAtItsTargetWithNoMoreThanTheSlackBehindIt) {
  const std::string bytes = test::RandomBytes(50'000, random_);
  const std::string deflated = test::Deflate(bytes);
  for (size_t room = 0; room < bytes.size(); room += 1 + room / 7) {
    const Outcome outcome = RunInflater(deflated, room);
    ASSERT_EQ(outcome.stop, Inflater::Stop::kOutput) << room;
    ASSERT_TRUE(outcome.decoded == bytes.substr(0, outcome.decoded.size())) << room;
    ASSERT_GE(outcome.decoded.size(), room);
  }
}

TEST_F(Inflate, FindsEveryPrefixTruncatedWithoutALookPastTheSlack) {
  for (int i = 0; i < 20; ++i) {
    const std::string deflated = test::Deflate(test::RandomBytes(2'000, random_), test::RandomRecipe(random_));
    for (size_t size = 0; size < deflated.size(); ++size) {
      ASSERT_EQ(RunInflater(deflated.substr(0, size), 10'000).stop, Inflater::Stop::kTruncated) << size;
    }
  }
}

// A dynamic block's header in which zeros are valid code lengths: it would go on for 500 bytes of them. (Found by
// fuzzing.)
TEST_F(Inflate, FindsAHeaderTruncatedThatGoesOnInZeros) {
  // Not final, dynamic; 286 literals, 30 distances, 19 code lengths; length 1 for symbol 16's neighbours 0 and 8.
  std::string header;
  uint64_t word = 0;
  unsigned count = 0;
  const auto put = [&](uint64_t value, unsigned bits) {
    word |= value << count;
    for (count += bits; count >= 8; count -= 8, word >>= 8) header += static_cast<char>(word);
  };
  put(0b100, 3);
  put(29, 5);
  put(29, 5);
  put(15, 4);
  for (int i = 0; i < 19; ++i) put(i == 3 || i == 4 ? 1 : 0, 3);
  put(0, 8);
  for (size_t size = 1; size <= header.size(); ++size) {
    EXPECT_EQ(RunInflater(header.substr(0, size), 1'000).stop, Inflater::Stop::kTruncated) << size;
  }
}

TEST_F(Inflate, NeverLooksOrWritesOutsideWhateverTheBytesAre) {
  for (int i = 0; i < 5'000; ++i) {
    std::string noise(random_() % 400, '\0');
    for (char& byte : noise) byte = static_cast<char>(random_());
    if (!noise.empty() && i % 2 == 0) noise[0] = static_cast<char>(noise[0] & ~7) | 4;  // a dynamic block
    RunInflater(noise, random_() % 1'000);
  }
}

}  // namespace
}  // namespace soci::deflate
