// zTOCs that contradict themselves: refused with a reason, whatever they claim.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "indexer/table/table_compiler.h"
#include "tests/layers/indexed_layer.h"
#include "tests/support/tar_builder.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::TarBuilder;
using ::testing::HasSubstr;

const IndexedLayer& Sound() {
  static const IndexedLayer layer =
      MakeIndexedLayer(TarBuilder().File("a", NoiseBytes(20'000, 1)).File("b", NoiseBytes(20'000, 2)).Finish());
  return layer;
}

std::string WhyRefused(const std::function<void(test::Ztoc&)>& spoil) {
  test::Ztoc ztoc = Sound().ztoc;
  spoil(ztoc);
  const auto table = CompileTable(ztoc, Sound().digest);
  if (table.ok()) return "not refused";
  EXPECT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(Message(table.status()));
}

TEST(HostileZtoc, SpansThatGoBackwardsRepeatOrLeaveTheLayerAreRefused) {
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { std::swap(z.checkpoints[1], z.checkpoints[2]); }), HasSubstr("backwards"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.checkpoints[2].uncompressed = z.checkpoints[1].uncompressed; }),
              HasSubstr("span 2 repeats"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.checkpoints[2].compressed = z.checkpoints[1].compressed; }),
              HasSubstr("span"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.checkpoints.back().compressed = z.compressed_size + 1; }),
              HasSubstr("outside the layer"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.checkpoints[0].uncompressed = 1; }),
              HasSubstr("does not start the layer"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.checkpoints[1].bits = 8; }), HasSubstr("impossible bit"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.compressed_size = uint64_t{1} << 60; }), HasSubstr("absurd"));
}

TEST(HostileZtoc, SpansThatClaimToExpandWithoutEndAreRefused) {
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.uncompressed_size = uint64_t{1} << 40; }), HasSubstr("expand"));
}

TEST(HostileZtoc, CountsThatDisagreeAreRefused) {
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.span_digests.pop_back(); }), HasSubstr("span digests"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.windows.pop_back(); }), HasSubstr("windows"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) {
                z.checkpoints.clear();
                z.windows.clear();
                z.span_digests.clear();
              }),
              HasSubstr("without checkpoints"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) {
                z.compression = Compression::kUncompressed;
                z.span_size = 1;
                z.compressed_size = uint64_t{1} << 40;
              }),
              HasSubstr("span digests for"));
}

TEST(HostileZtoc, AFirstWindowThatIsNotEmptyIsRefused) {
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.windows[0][5] = std::byte{1}; }),
              HasSubstr("window before the first byte"));
}

TEST(HostileZtoc, MembersOutsideTheLayerOrOverEachOtherAreRefused) {
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[1].header.begin = 100; }), HasSubstr("member 1 \"b\""));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[1].content.end = uint64_t{1} << 62; }),
              HasSubstr("outside the layer"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[1].content.begin -= 1; }), HasSubstr("outside the layer"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[0].header = {0, 0}; }), HasSubstr("no room for its header"));
  EXPECT_THAT(WhyRefused([](test::Ztoc& z) { z.entries[1].header.end = UINT64_MAX; }),
              HasSubstr("behind the layer's end"));
}

TEST(HostileZtoc, DeepPathsCannotMakeTheTreeLarge) {
  test::Ztoc ztoc = Sound().ztoc;
  const tar::Entry first = ztoc.entries[0];
  ztoc.entries.clear();
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "/d";
  for (int i = 0; i < 40; ++i) {
    tar::Entry entry = first;
    entry.name = std::to_string(i) + deep;
    entry.header = {static_cast<uint64_t>(i) * 512, static_cast<uint64_t>(i + 1) * 512};
    entry.content = {};
    ztoc.entries.push_back(entry);
  }
  EXPECT_THAT(std::string(Message(CompileTable(ztoc, Sound().digest).status())), HasSubstr("too many folders"));
}

TEST(HostileZtoc, DeepPathsCannotKeepUsBusy) {
  test::Ztoc ztoc = Sound().ztoc;
  const tar::Entry first = ztoc.entries[0];
  ztoc.entries.clear();
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "d/";
  for (int i = 0; i < 78; ++i) {
    tar::Entry entry = first;
    entry.name = deep + std::to_string(i);
    entry.header = {static_cast<uint64_t>(i) * 512, static_cast<uint64_t>(i + 1) * 512};
    entry.content = {};
    ztoc.entries.push_back(entry);
  }
  EXPECT_TRUE(CompileTable(ztoc, Sound().digest).ok());  // a few are nobody's harm
  for (int i = 0; i < 1000; ++i) ztoc.entries.push_back(ztoc.entries.back());
  for (size_t i = 0; i < ztoc.entries.size(); ++i) ztoc.entries[i].header = {i * 512, (i + 1) * 512};
  ztoc.compression = Compression::kUncompressed;
  ztoc.span_size = ztoc.compressed_size = ztoc.uncompressed_size = 1 << 20;
  ztoc.span_digests.resize(1);
  EXPECT_THAT(std::string(Message(CompileTable(ztoc, Sound().digest).status())), HasSubstr("too deep"));
}

TEST(HostileZtoc, EmptySpansAtBothEndsAreLeftOut) {
  test::Ztoc ztoc = Sound().ztoc;
  // As written for a stream that begins with an empty block and ends with one (b02, a10 of tests/golden).
  ztoc.checkpoints.insert(ztoc.checkpoints.begin(), {ztoc.checkpoints[0].compressed - 2, 0, 0});
  ztoc.windows.insert(ztoc.windows.begin(), Window{});
  ztoc.span_digests.insert(ztoc.span_digests.begin(), oci::Digest::Of("empty"));
  ztoc.checkpoints.push_back({ztoc.compressed_size - 10, ztoc.uncompressed_size + 512, 0});
  ztoc.windows.push_back(Window{});
  ztoc.span_digests.push_back(oci::Digest::Of("end"));
  const auto bytes = CompileTable(ztoc, Sound().digest);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto table = LayerTable::FromBytes(*bytes, Sound().digest);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ((*table)->span_count(), Sound().table->span_count());
  EXPECT_EQ((*table)->Extent(SpanId{0}), Sound().table->Extent(SpanId{0}));
  EXPECT_EQ((*table)->uncompressed_size(), ztoc.uncompressed_size + 512);
}

}  // namespace
}  // namespace soci
