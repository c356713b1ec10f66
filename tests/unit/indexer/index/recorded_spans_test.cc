#include "indexer/index/recorded_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/index/files_at.h"
#include "indexer/record/record_builder.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr uint64_t kSpan = 10'000;

// A plain tar's table of members at places of their own.
class Layer {
 public:
  Layer() {
    ztoc_.compression = Compression::kUncompressed;
    ztoc_.span_size = kSpan;
  }
  Layer& Add(tar::EntryType type, const std::string& name, uint64_t at, uint64_t size, const std::string& link = "") {
    tar::Entry entry;
    entry.type = type;
    entry.name = name;
    entry.link_name = link;
    entry.size = static_cast<int64_t>(size);
    entry.header = {at - 512, at};
    entry.content = {at, at + size};
    ztoc_.entries.push_back(entry);
    return *this;
  }
  Layer& File(const std::string& name, uint64_t at, uint64_t size) {
    return Add(tar::EntryType::kRegular, name, at, size);
  }
  std::map<std::string, MemberAt> At(const std::set<std::string>& paths) const {
    return FilesAt(*ZtocView(ztoc_).entries, paths);
  }
  RecordedSpans Find(const Record& record) const { return FindRecordedSpans(ztoc_, *ZtocView(ztoc_).entries, record); }

 private:
  test::Ztoc ztoc_;
};

oci::LayerDigest Digest(const std::string& name) { return oci::LayerDigest(oci::Digest::Of(name)); }

TEST(FilesAt, TheLastMemberOfANameCountsUnderWhateverSpelling) {
  const Layer layer =
      Layer().File("./a", 1'000, 10).File("/a", 3'000, 20).Add(tar::EntryType::kDirectory, "d/", 5'000, 0);
  const auto members = layer.At({"a", "d", "none"});
  EXPECT_EQ(members.at("a").content, (UncompressedRange{3'000, 3'020}));
  EXPECT_FALSE(members.at("d").content);
  EXPECT_FALSE(members.contains("none"));
}

TEST(FilesAt, HardLinksLeadToTheContentOfTheirTarget) {
  const Layer layer = Layer()
                          .File("bin/busybox", 1'000, 700)
                          .Add(tar::EntryType::kHardLink, "bin/sh", 2'000, 0, "./bin/busybox")
                          .Add(tar::EntryType::kHardLink, "bin/ash", 3'000, 0, "bin/sh")
                          .Add(tar::EntryType::kHardLink, "x", 4'000, 0, "y")
                          .Add(tar::EntryType::kHardLink, "y", 5'000, 0, "x");
  const auto members = layer.At({"bin/sh", "bin/ash", "x"});
  EXPECT_EQ(members.at("bin/sh").content, (UncompressedRange{1'000, 1'700}));
  EXPECT_EQ(members.at("bin/ash").content, (UncompressedRange{1'000, 1'700}));
  EXPECT_FALSE(members.at("x").content);
}

TEST(FilesAt, AWhiteoutIsSomethingElseUnlessTheLayerHasTheFileToo) {
  const Layer layer = Layer().File("d/.wh.a", 1'000, 0).File("d/b", 2'000, 10).File("d/.wh.b", 3'000, 0);
  const auto members = layer.At({"d/a", "d/b"});
  EXPECT_FALSE(members.at("d/a").content);
  EXPECT_TRUE(members.at("d/b").content);
}

TEST(RecordedSpans, AreThoseOfTheExtentsAndNotOfTheWholeFile) {
  RecordBuilder builder(oci::Digest::Of("image"), {Digest("one")});
  builder.Add(Digest("one"), "lib", 100'000, 40'960, 4'096, 0);
  builder.Add(Digest("one"), "lib", 100'000, 0, 4'096, 10);
  builder.Add(Digest("one"), "other", 500, 0, 500, 20);
  const Record record = builder.Build();
  const Layer layer = Layer().File("lib", 8'000, 100'000).File("other", 200'000, 501);
  EXPECT_THAT(layer.Find(record),
              ElementsAre(Pair(0, ElementsAre(SpanIdRange{4, 5}, SpanIdRange{0, 1})), Pair(1, IsEmpty())));
}

TEST(RecordedSpans, AFileOfALayerThatIsThereIsTakenThereOthersInTheTopmostThatHasThem) {
  RecordBuilder builder(oci::Digest::Of("image"), {Digest("kept"), Digest("gone")});
  builder.Add(Digest("kept"), "a", 5'000, 0, 5'000, 0);
  builder.Add(Digest("gone"), "b", 5'000, 0, 5'000, 1'000);
  builder.Add(Digest("gone"), "c", 5'000, 0, 5'000, 2'000);
  const Record record = builder.Build();
  const Layer kept = Layer().File("a", 1'000, 5'000).File("b", 51'000, 5'000).File("c", 61'000, 5'000);
  const Layer next = Layer().File("a", 31'000, 5'000).File("b", 71'000, 5'000).File("c", 81'000, 4'000);
  const RecordedSpans in_kept = kept.Find(record), in_next = next.Find(record);
  const auto chosen =
      ChooseRecordedSpans(record, {{Digest("kept"), &in_kept}, {Digest("next"), &in_next}, {Digest("small"), nullptr}});
  EXPECT_THAT(chosen, ElementsAre(ElementsAre(SpanIdRange{0, 0}), ElementsAre(SpanIdRange{7, 7}), IsEmpty()));
}

}  // namespace
}  // namespace soci
