// Every golden zTOC is proven right by the verifier, and every lie put into one is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "indexer/base/file_io.h"
#include "indexer/index/layer_choice.h"
#include "indexer/index/layer_indexer.h"
#include "indexer/index/verify_layer.h"
#include "indexer/oci/annotations.h"
#include "indexer/ztoc/layer_scanner.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci::golden {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Case {
  std::string bytes;
  oci::Descriptor layer;
  ScannedLayer scanned;
  test::Ztoc ztoc;  // as a reader gets it
};

Case Load(const std::string& name, std::string_view media_type, uint64_t span_size) {
  Case loaded;
  loaded.bytes = ReadFile(SOCI_BINARY_DIR "/golden/blobs/" + name + ".blob").value();
  loaded.layer = {.media_type = std::string(media_type),
                  .digest = oci::Digest::Of(loaded.bytes),
                  .size = static_cast<int64_t>(loaded.bytes.size())};
  const auto source = MakeMemorySource(loaded.bytes);
  const auto stream = MakeSourceStream(*source, {});
  loaded.scanned = ScanLayer(*stream, ChooseLayer(loaded.layer, 0).compression, {.span_size = span_size}).value();
  loaded.ztoc = test::DecodeZtoc(EncodeZtoc(loaded.scanned.ztoc).value()).value();
  return loaded;
}

std::vector<std::string> Verify(const Case& loaded, const test::Ztoc& ztoc) {
  const auto source = MakeMemorySource(loaded.bytes);
  return VerifyLayer(*source, loaded.layer, ztoc, loaded.scanned.diff_id, {}, {}).value().lines();
}

TEST(VerifyLayer, FindsNoFaultInWhatTheReferenceToolMakes) {
  std::ifstream file(SOCI_SOURCE_DIR "/tests/golden/expected.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  int count = 0;
  for (const auto& [name, layer] : expected.at("layers").items()) {
    // Sparse files and displaced headers, which make a table that is refused; a stream that no runtime can unpack.
    const bool hurtful = std::set<std::string>{"c08", "c09", "c11", "b15"}.contains(name.substr(0, 3));
    if (layer.contains("error") || hurtful) continue;
    SCOPED_TRACE(name);
    const Case loaded = Load(name, layer["media_type"].get<std::string>(), layer["span_size"]);
    EXPECT_THAT(Verify(loaded, loaded.ztoc), IsEmpty());
    ++count;
  }
  EXPECT_EQ(count, 42);
}

class Lies : public testing::Test {
 protected:
  Case loaded = Load("b04-sync-flush", oci::kMediaTypeLayerGzip, 65536);
  test::Ztoc ztoc = loaded.ztoc;
};

TEST_F(Lies, AboutMetadataAreFoundWithTheEntrysName) {
  const std::string name = ztoc.entries[1].name;
  ztoc.entries[1].mode = 04755;
  EXPECT_THAT(Verify(loaded, ztoc), ElementsAre(HasSubstr("entry \"" + name + "\": mode: 4755 in the index")));
  ztoc = loaded.ztoc;
  ztoc.entries[1].uid = 0x7fff;
  ztoc.entries[1].pax["SCHILY.xattr.user.x"] = "y";
  EXPECT_THAT(Verify(loaded, ztoc), ElementsAre(HasSubstr("PAX records differ")));
}

TEST_F(Lies, AboutWhichEntriesThereAreAreFound) {
  const std::string name = ztoc.entries[0].name;
  ztoc.entries.erase(ztoc.entries.begin());
  EXPECT_THAT(Verify(loaded, ztoc), ElementsAre("entry \"" + name + "\": is missing in the index"));
  ztoc = loaded.ztoc;
  ztoc.entries.insert(ztoc.entries.begin() + 1, ztoc.entries[0]);
  ztoc.entries[1].name = "planted";
  ztoc.entries[1].header.end += 1;
  EXPECT_THAT(Verify(loaded, ztoc), ElementsAre("entry \"planted\": is not in the layer"));
  ztoc = loaded.ztoc;
  ztoc.entries.push_back(ztoc.entries.back());
  EXPECT_THAT(Verify(loaded, ztoc), ElementsAre(HasSubstr("is not in the layer")));
}

TEST_F(Lies, AboutWindowsAreFoundWithTheSpan) {
  ASSERT_GT(ztoc.windows.size(), 2u);
  ztoc.windows[2][kWindowSize - 1] ^= std::byte{1};
  EXPECT_THAT(Verify(loaded, ztoc), testing::Contains("span 2: its window is not the 32768 bytes before it"));
}

TEST_F(Lies, AboutCheckpointsAreFound) {
  ztoc.checkpoints[1].uncompressed += 1;
  EXPECT_THAT(Verify(loaded, ztoc), testing::Contains(HasSubstr("span 1: ")));
  ztoc = loaded.ztoc;
  ztoc.checkpoints[1].bits = static_cast<uint8_t>(ztoc.checkpoints[1].bits ^ 1);
  EXPECT_FALSE(Verify(loaded, ztoc).empty());
}

TEST_F(Lies, AboutDigestsAndSizesAreFound) {
  ztoc.span_digests[1] = oci::Digest::Of("x");
  EXPECT_THAT(Verify(loaded, ztoc), ElementsAre("span 1: its bytes do not match its digest"));
  ztoc = loaded.ztoc;
  ztoc.uncompressed_size += 512;
  EXPECT_THAT(Verify(loaded, ztoc), testing::Contains(HasSubstr("end of the archive")));
}

TEST_F(Lies, AboutAnEntrysSizeAreFoundWithItsName) {
  const auto file = std::find_if(ztoc.entries.begin(), ztoc.entries.end(), [](const tar::Entry& entry) {
    return entry.type == tar::EntryType::kRegular && entry.size > 1;
  });
  ASSERT_NE(file, ztoc.entries.end());
  file->size -= 1;
  EXPECT_THAT(Verify(loaded, ztoc), ElementsAre(HasSubstr("entry \"" + file->name + "\": size: ")));
}

TEST_F(Lies, AboutANameAreFoundWithTheName) {
  const std::string right = ztoc.entries[1].name;
  ztoc.entries[1].name = "other";
  EXPECT_THAT(Verify(loaded, ztoc), testing::Contains(HasSubstr("\"" + right + "\"")));
}

TEST_F(Lies, AboutWhereASpanEndsAreFoundWithTheSpan) {
  ASSERT_GT(ztoc.checkpoints.size(), 2u);
  ztoc.checkpoints[2].compressed += 1;
  EXPECT_THAT(Verify(loaded, ztoc), testing::Contains("span 1: its bytes do not match its digest"));
  ztoc = loaded.ztoc;
  ztoc.checkpoints[2].uncompressed -= 1;
  EXPECT_THAT(Verify(loaded, ztoc), testing::Contains("span 2: its window is not the 32768 bytes before it"));
}

TEST_F(Lies, OfTheImageAreFound) {
  loaded.scanned.diff_id = oci::DiffId(oci::Digest::Of("x"));
  EXPECT_THAT(Verify(loaded, ztoc), ElementsAre(HasSubstr("DiffID: ")));
}

TEST_F(Lies, DamageOfTheLayerIsAFaultOfTheLayer) {
  loaded.bytes[loaded.bytes.size() / 2] = static_cast<char>(loaded.bytes[loaded.bytes.size() / 2] ^ 1);
  EXPECT_THAT(Verify(loaded, ztoc), testing::Contains(HasSubstr("the layer itself is damaged")));
}

TEST_F(Lies, AFailureOfTheSourceIsNoFault) {
  class Failing : public ByteSource {
    uint64_t size() const override { return 1000; }
    Status ReadAt(uint64_t, MutableByteSpan, const FetchContext&) const override {
      return absl::UnavailableError("reset");
    }
  };
  EXPECT_TRUE(absl::IsUnavailable(VerifyLayer(Failing(), loaded.layer, ztoc, {}, {}, {}).status()));
}

TEST_F(Lies, ALongListIsCut) {
  for (tar::Entry& entry : ztoc.entries) entry.mode ^= 1;
  const auto entry = ztoc.entries.front();
  for (int i = 0; i < 200; ++i) ztoc.entries.push_back(ztoc.entries.back());
  const auto source = MakeMemorySource(loaded.bytes);
  const LayerFaults faults = VerifyLayer(*source, loaded.layer, ztoc, {}, {}, {}).value();
  EXPECT_EQ(faults.lines().size(), LayerFaults::kMost);
  EXPECT_GT(faults.left_out(), 0u);
}

}  // namespace
}  // namespace soci::golden
