// Byte for byte: what we make of every golden layer is what the reference tool made of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "indexer/ztoc/layer_scanner.h"
#include "tests/golden/layers/golden_layer.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci::golden {
namespace {

class StringStream final : public ByteStream {
 public:
  StringStream(std::string_view text, size_t most) : text_(text), most_(most) {}
  Result<size_t> Read(MutableByteSpan out) override {
    const size_t count = std::min({out.size(), text_.size(), most_});
    std::copy_n(AsBytes(text_).begin(), count, out.begin());
    text_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view text_;
  size_t most_;
};

Result<ScannedLayer> Scan(const Layer& layer, const std::string& blob, size_t read_size) {
  StringStream stream(blob, read_size);
  ScanOptions options;
  options.span_size = layer.span_size;
  return ScanLayer(stream, layer.compression, options);
}

class AcceptedLayer : public ::testing::TestWithParam<Layer> {};

TEST_P(AcceptedLayer, GetsTheZtocThatTheReferenceToolMakes) {
  const std::string blob = ReadBlob(GetParam());
  const Result<ScannedLayer> scanned = Scan(GetParam(), blob, 1 << 20);
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  const Result<std::string> ztoc = EncodeZtoc(scanned->ztoc);
  ASSERT_TRUE(ztoc.ok()) << ztoc.status();
  EXPECT_EQ(oci::Digest::Of(*ztoc).Hex(), GetParam().ztoc_digest);
  EXPECT_EQ(scanned->layer, oci::Digest::Of(blob));
}

TEST_P(AcceptedLayer, GetsTheSameZtocWhateverTheReadsAre) {
  const std::string blob = ReadBlob(GetParam());
  for (size_t read_size : {size_t{1}, size_t{7}, size_t{511}, size_t{4096}}) {
    if (blob.size() / read_size > 300'000) continue;
    const Result<ScannedLayer> scanned = Scan(GetParam(), blob, read_size);
    ASSERT_TRUE(scanned.ok()) << scanned.status();
    EXPECT_EQ(oci::Digest::Of(*EncodeZtoc(scanned->ztoc)).Hex(), GetParam().ztoc_digest) << "reads of " << read_size;
  }
}

TEST_P(AcceptedLayer, ReadsBackAsItWasWritten) {
  const std::string blob = ReadBlob(GetParam());
  const Result<ScannedLayer> scanned = Scan(GetParam(), blob, 1 << 20);
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  const Result<test::Ztoc> read = test::DecodeZtoc(*EncodeZtoc(scanned->ztoc));
  const bool has_sparse_file = std::any_of(scanned->hazards.begin(), scanned->hazards.end(),
                                           [](const auto& hazard) { return hazard.kind == Hazard::kSparseFile; });
  if (has_sparse_file) {
    EXPECT_FALSE(read.ok());
    return;
  }
  ASSERT_TRUE(read.ok()) << read.status();
  const test::Ztoc written = test::Unpack(scanned->ztoc);
  EXPECT_EQ(read->build_tool, written.build_tool);
  EXPECT_EQ(read->span_size, written.span_size);
  EXPECT_EQ(read->checkpoints, written.checkpoints);
  EXPECT_EQ(read->windows, written.windows);
  EXPECT_EQ(read->span_digests, written.span_digests);
  EXPECT_EQ(read->Spans(), written.Spans());
  ASSERT_EQ(read->entries.size(), written.entries.size());
  for (size_t i = 0; i < written.entries.size(); ++i) {
    tar::Entry entry = written.entries[i];
    entry.uid = static_cast<uint32_t>(entry.uid);
    entry.gid = static_cast<uint32_t>(entry.gid);
    EXPECT_EQ(read->entries[i], entry) << entry.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, AcceptedLayer, ::testing::ValuesIn(LayersWhere(true)), TestName);

class RefusedLayer : public ::testing::TestWithParam<Layer> {};

TEST_P(RefusedLayer, IsRefusedForTheRightReason) {
  const Result<ScannedLayer> scanned = Scan(GetParam(), ReadBlob(GetParam()), 1 << 20);
  ASSERT_FALSE(scanned.ok());
  EXPECT_EQ(scanned.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string expected = GetParam().error.substr(0, GetParam().error.find(" (the reference"));
  EXPECT_NE(Message(scanned.status()).find(expected), std::string_view::npos)
      << Message(scanned.status()) << " (expected: " << expected << ")";
}

INSTANTIATE_TEST_SUITE_P(Golden, RefusedLayer, ::testing::ValuesIn(LayersWhere(false)), TestName);

TEST(HurtfulLayers, AreIndexedButMarked) {
  const std::map<std::string, Hazard> hurtful = {
      {"b02-empty-first-member", Hazard::kRepeatedStart}, {"b06-flush-first", Hazard::kRepeatedStart},
      {"b15-zlib-member", Hazard::kForeignStream},        {"c08-pax-sparse-1.0", Hazard::kSparseFile},
      {"c09-pax-sparse-0.1", Hazard::kSparseFile},        {"c11-link-sizes", Hazard::kMisplacedHeader}};
  for (const Layer& layer : LayersWhere(true)) {
    const Result<ScannedLayer> scanned = Scan(layer, ReadBlob(layer), 1 << 20);
    ASSERT_TRUE(scanned.ok()) << layer.name;
    const auto expected = hurtful.find(layer.name);
    EXPECT_EQ(!scanned->hazards.empty(), expected != hurtful.end()) << layer.name;
    if (expected == hurtful.end()) continue;
    EXPECT_EQ(scanned->hazards[0].kind, expected->second) << layer.name;
    EXPECT_EQ(scanned->WhyNotExact() == nullptr, expected->second == Hazard::kRepeatedStart) << layer.name;
  }
}

}  // namespace
}  // namespace soci::golden
