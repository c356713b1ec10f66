#include "fuse/fetch/range_assembler.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace soci {
namespace {

class Assembly {
 public:
  explicit Assembly(std::vector<CompressedRange> ranges) : assembler_(std::move(ranges)) {}

  Status Push(std::string_view bytes) {
    return assembler_.Push(AsBytes(bytes), [this](size_t index, CompressedBytes done) {
      EXPECT_EQ(index, spans.size());
      spans.emplace_back(AsText(done.view()));
    });
  }
  bool complete() const { return assembler_.complete(); }
  CompressedRange range() const { return assembler_.range(); }

  std::vector<std::string> spans;

 private:
  RangeAssembler assembler_;
};

using Spans = std::vector<std::string>;

TEST(RangeAssembler, CutsARangeIntoItsSpans) {
  Assembly assembly({{10, 13}, {13, 15}, {15, 16}});
  EXPECT_EQ(assembly.range(), (CompressedRange{10, 16}));
  EXPECT_TRUE(assembly.Push("abcdef").ok());
  EXPECT_EQ(assembly.spans, (Spans{"abc", "de", "f"}));
  EXPECT_TRUE(assembly.complete());
}

TEST(RangeAssembler, ASpanIsHandedOnAsSoonAsItsLastByteIsThere) {
  Assembly assembly({{0, 3}, {3, 5}});
  EXPECT_TRUE(assembly.Push("ab").ok());
  EXPECT_EQ(assembly.spans, Spans{});
  EXPECT_TRUE(assembly.Push("cd").ok());
  EXPECT_EQ(assembly.spans, Spans{"abc"});
  EXPECT_FALSE(assembly.complete());
  EXPECT_TRUE(assembly.Push("e").ok());
  EXPECT_EQ(assembly.spans, (Spans{"abc", "de"}));
}

TEST(RangeAssembler, NeighboursThatShareAByteBothGetIt) {
  for (size_t piece = 1; piece <= 7; ++piece) {
    Assembly assembly({{0, 3}, {2, 5}, {5, 6}, {5, 7}});
    std::string bytes = "abcdefg";
    for (size_t i = 0; i < bytes.size(); i += piece) EXPECT_TRUE(assembly.Push(bytes.substr(i, piece)).ok());
    EXPECT_EQ(assembly.spans, (Spans{"abc", "cde", "f", "fg"})) << piece;
  }
}

TEST(RangeAssembler, ASpanOfOneSharedByteNeedsNoOther) {
  Assembly assembly({{0, 3}, {2, 3}, {3, 4}});
  EXPECT_TRUE(assembly.Push("abc").ok());
  EXPECT_EQ(assembly.spans, (Spans{"abc", "c"}));
}

TEST(RangeAssembler, MoreThanWasAskedForIsRefused) {
  Assembly assembly({{0, 3}});
  EXPECT_EQ(assembly.Push("abcd").code(), absl::StatusCode::kOutOfRange);
}

TEST(RangeAssembler, OnlyNeighboursJoin) {
  EXPECT_TRUE(RangeAssembler::Joins({0, 3}, {3, 5}));
  EXPECT_TRUE(RangeAssembler::Joins({0, 3}, {2, 5}));
  EXPECT_FALSE(RangeAssembler::Joins({0, 3}, {4, 5}));
  EXPECT_FALSE(RangeAssembler::Joins({0, 3}, {1, 5}));
  EXPECT_FALSE(RangeAssembler::Joins({0, 3}, {3, 3}));
  EXPECT_FALSE(RangeAssembler::Joins({3, 3}, {3, 4}));
}

}  // namespace
}  // namespace soci
