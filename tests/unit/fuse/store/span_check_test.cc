// An index that does not tell the truth about its layer is found out when the spans arrive.
#include <functional>

#include "indexer/table/table_compiler.h"
#include "tests/unit/fuse/store/store_fixture.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::SampleTar;
using test::ShuffledSpans;
using test::TarBuilder;
using ::testing::HasSubstr;

class SpanCheckTest : public test::StoreTest {
 protected:
  // A layer whose index was changed by `lie`.
  static IndexedLayer Lying(IndexedLayer layer, const std::function<void(test::Ztoc&)>& lie) {
    lie(layer.ztoc);
    const auto bytes = CompileTable(layer.ztoc, layer.digest);
    if (!bytes.ok()) throw std::runtime_error(std::string(Message(bytes.status())));
    layer.table = *LayerTable::FromBytes(*bytes, layer.digest);
    return layer;
  }

  // The first complaint when all spans are put in that order.
  Status FirstComplaint(const IndexedLayer& layer, uint32_t seed) {
    (void)RemoveTree(folder_);
    return PutAll(*Open(layer), layer, seed);
  }
};

TEST_F(SpanCheckTest, TrueIndexesPassInAnyOrder) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Status status = FirstComplaint(layer, seed);
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST_F(SpanCheckTest, EveryFalseAttributeIsFoundOutInAnyOrder) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const std::vector<std::function<void(tar::Entry&)>> lies = {
      [](tar::Entry& e) { e.mode ^= 04000; },      [](tar::Entry& e) { e.uid += 1; },
      [](tar::Entry& e) { e.mtime_seconds += 1; }, [](tar::Entry& e) { e.name.back() ^= 1; },
      [](tar::Entry& e) { e.gid += 1; },           [](tar::Entry& e) { e.pax["SCHILY.xattr.user.a"] = "b"; },
  };
  for (size_t lie = 0; lie < lies.size(); ++lie) {
    for (const size_t member : {size_t{0}, size_t{2}, size_t{20}, layer.ztoc.entries.size() - 1}) {
      const IndexedLayer lying = Lying(layer, [&](test::Ztoc& ztoc) { lies[lie](ztoc.entries[member]); });
      for (uint32_t seed = 0; seed < 3; ++seed) {
        const Status status = FirstComplaint(lying, seed);
        EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << lie << " " << member << " " << seed;
      }
    }
  }
}

TEST_F(SpanCheckTest, AHeaderThatStraddlesSpansIsComparedWhenTheLastOfThemComes) {
  TarBuilder tar;
  for (int i = 0; i < 60; ++i) tar.File(std::string(120, 'n') + std::to_string(i), "x");
  const IndexedLayer layer = MakeIndexedLayer(tar.Finish(), {.span_size = 700, .block_size = 300});
  size_t straddling = 0;
  for (size_t i = 0; i < layer.ztoc.entries.size(); ++i) {
    const UncompressedRange header = layer.ztoc.entries[i].header;
    if (layer.table->SpanAt(header.begin) == layer.table->SpanAt(header.end - 1)) continue;
    ++straddling;
    const IndexedLayer lying = Lying(layer, [&](test::Ztoc& ztoc) { ztoc.entries[i].mode = 0777; });
    EXPECT_TRUE(absl::IsDataLoss(FirstComplaint(lying, static_cast<uint32_t>(i)))) << i;
  }
  EXPECT_GT(straddling, 10u);
}

TEST_F(SpanCheckTest, APartOfAHeaderThatAnEarlierProcessWroteIsReadBack) {
  TarBuilder tar;
  for (int i = 0; i < 60; ++i) tar.File(std::string(120, 'n') + std::to_string(i), "x");
  const IndexedLayer layer = MakeIndexedLayer(tar.Finish(), {.span_size = 700, .block_size = 300});
  for (size_t i = 0; i < layer.ztoc.entries.size(); ++i) {
    const UncompressedRange header = layer.ztoc.entries[i].header;
    const SpanId first = layer.table->SpanAt(header.begin);
    const SpanId last = layer.table->SpanAt(header.end - 1);
    if (Next(first) != last) continue;
    const IndexedLayer lying = Lying(layer, [&](test::Ztoc& ztoc) { ztoc.entries[i].mode = 0777; });
    (void)RemoveTree(folder_);
    {
      const auto store = Open(lying);
      ASSERT_TRUE(Put(*store, lying, last).ok());
      ASSERT_TRUE(store->Close().ok());
    }
    EXPECT_TRUE(absl::IsDataLoss(Put(*Open(lying), lying, first)));
    return;
  }
  FAIL() << "no header straddles two spans";
}

TEST_F(SpanCheckTest, AFalseWindowIsFoundOutByTheSpanBeforeIt) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  for (const size_t place : {size_t{0}, kWindowSize / 2, kWindowSize - 1}) {
    const IndexedLayer lying = Lying(layer, [&](test::Ztoc& ztoc) { ztoc.windows[12][place] ^= std::byte{1}; });
    const auto store = Open(lying);
    EXPECT_TRUE(store->CheckSpan(SpanId{10}, lying.Decoded(SpanId{10})).ok());
    const Status status = store->CheckSpan(SpanId{11}, lying.Decoded(SpanId{11}));
    EXPECT_TRUE(absl::IsDataLoss(status));
    EXPECT_THAT(std::string(Message(status)), HasSubstr("window of span 12"));
    (void)RemoveTree(folder_);
  }
}

TEST_F(SpanCheckTest, MembersLeftOutAreFoundOut) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const IndexedLayer last_hidden = Lying(layer, [](test::Ztoc& ztoc) { ztoc.entries.pop_back(); });
  EXPECT_THAT(std::string(Message(FirstComplaint(last_hidden, 1))), HasSubstr("the layer goes on at"));
  const IndexedLayer inner_hidden = Lying(layer, [](test::Ztoc& ztoc) {
    ztoc.entries[5].header.begin = ztoc.entries[4].header.begin;
    ztoc.entries.erase(ztoc.entries.begin() + 4);
  });
  EXPECT_TRUE(absl::IsDataLoss(FirstComplaint(inner_hidden, 1)));
}

TEST_F(SpanCheckTest, ACondemnedLayerStaysSoAndGivesNothingAway) {
  const IndexedLayer layer =
      Lying(MakeIndexedLayer(SampleTar().Finish()), [](test::Ztoc& ztoc) { ztoc.entries.back().mode = 04777; });
  {
    const auto store = Open(layer);
    ASSERT_TRUE(Put(*store, layer, SpanId{0}).ok());
    const SpanId last{layer.table->span_count() - 1};
    const SpanId lie = layer.table->SpanAt(layer.ztoc.entries.back().header.begin);
    for (SpanId span = lie; span <= last; span = Next(span)) (void)Put(*store, layer, span);
    EXPECT_TRUE(absl::IsDataLoss(store->condemned()));
    std::string byte(1, '\0');
    const auto out = std::as_writable_bytes(std::span(byte));
    const InodeId file = *layer.table->Lookup(*layer.table->Lookup(InodeId::kRoot, "d"), "big");
    EXPECT_TRUE(absl::IsDataLoss(store->ReadFile(file, 0, out, true).status()));
    EXPECT_TRUE(absl::IsDataLoss(store->WriteSpan(SpanId{1}, layer.Decoded(SpanId{1}))));
    EXPECT_TRUE(absl::IsDataLoss(store->Seal({.diff_id = layer.diff_id})));
  }
  EXPECT_TRUE(absl::IsDataLoss(Open(layer)->condemned()));
}

TEST_F(SpanCheckTest, SpansOfTheWrongLengthAreRefused) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const auto store = Open(layer);
  EXPECT_FALSE(store->CheckSpan(SpanId{0}, layer.Decoded(SpanId{0}).first(10)).ok());
  EXPECT_FALSE(store->CheckSpan(SpanId{9999}, {}).ok());
  EXPECT_FALSE(store->WriteSpan(SpanId{9999}, {}).ok());
}

}  // namespace
}  // namespace soci
