// Whatever tar, whatever compressor, however the bytes arrive: the index is the one that zlib's boundaries give, and
// every file read through it is the file in the tar. A plan that fails is made as small as it can be before it is
// shown.
#include <gtest/gtest.h>

#include <map>

#include "indexer/codec/span_decoder.h"
#include "indexer/tar/reader.h"
#include "indexer/ztoc/layer_scanner.h"
#include "tests/gzip/scanned_gzip.h"
#include "tests/gzip/zlib_oracle.h"
#include "tests/model/ztoc/layer_plan.h"

namespace soci::test {
namespace {

Result<ScannedLayer> Scan(const std::string& blob, uint64_t span_size, size_t read_size) {
  TextStream stream(blob, read_size);
  return ScanLayer(stream, Compression::kGzip, {.span_size = span_size});
}

// What is wrong with the index of this plan's layer; empty if nothing is.
std::string FaultOf(const LayerPlan& plan) {
  const std::string tar = plan.Tar();
  const std::string blob = plan.Blob(tar);
  const Result<ScannedLayer> scanned = Scan(blob, plan.span_size, plan.read_size);
  if (!scanned.ok()) return scanned.status().ToString();
  if (scanned->WhyNotExact() != nullptr) return "a hazard: " + scanned->WhyNotExact()->reason;
  if (scanned->diff_id != oci::DiffId(oci::Digest::Of(tar))) return "DiffID";
  const Result<std::string> bytes = EncodeZtoc(scanned->ztoc);
  if (!bytes.ok()) return bytes.status().ToString();
  const Result<ScannedLayer> again = Scan(blob, plan.span_size, 1 << 20);
  if (!again.ok() || *EncodeZtoc(again->ztoc) != *bytes) return "another zTOC when read in other portions";
  const std::optional<OracleAnswer> oracle = AskZlib(blob, plan.span_size);
  if (!oracle || oracle->checkpoints != scanned->ztoc.checkpoints) return "other checkpoints than zlib's";

  const Result<Ztoc> ztoc = DecodeZtoc(*bytes);
  if (!ztoc.ok()) return ztoc.status().ToString();
  if (*EncodeZtoc(*ztoc) != *bytes) return "does not read back as it was written";
  std::string readable;  // what the spans give, put together
  const std::vector<SpanExtent> spans = ztoc->Spans();
  for (size_t i = 0; i < spans.size(); ++i) {
    std::string decoded(spans[i].uncompressed.size(), '?');
    const Status status = DecoderFor(Compression::kGzip)
                              .Decode(spans[i], ztoc->windows[i],
                                      AsBytes(blob).subspan(spans[i].compressed.begin, spans[i].compressed.size()),
                                      std::as_writable_bytes(std::span(decoded)));
    if (!status.ok()) return "span " + std::to_string(i) + ": " + status.ToString();
    readable += decoded;
  }
  for (const tar::Entry& entry : ztoc->entries) {
    if (entry.content.end > readable.size() || readable.compare(entry.content.begin, entry.content.size(), tar,
                                                                entry.content.begin, entry.content.size()) != 0) {
      return "content of " + entry.name;
    }
    const Result<tar::Entry> header =
        tar::ParseHeader(AsBytes(readable).subspan(entry.header.begin, entry.header.size()), entry.header.begin);
    if (!header.ok() || *header != entry) return "header of " + entry.name;
  }
  return {};
}

LayerPlan Shrink(LayerPlan plan) {
  for (int steps = 0; steps < 200; ++steps) {
    bool smaller = false;
    for (const LayerPlan& candidate : SmallerPlans(plan)) {
      if (FaultOf(candidate).empty()) continue;
      plan = candidate;
      smaller = true;
      break;
    }
    if (!smaller) break;
  }
  return plan;
}

TEST(LayerProperty, EveryFileOfEveryLayerIsReadableThroughItsIndex) {
  for (unsigned seed = 0; seed < 250; ++seed) {
    const LayerPlan plan = RandomPlan(seed);
    if (FaultOf(plan).empty()) continue;
    const LayerPlan small = Shrink(plan);
    FAIL() << "seed " << seed << ": " << FaultOf(small) << "\n" << small.ToString();
  }
}

TEST(LayerPlan, ShrinksToTheOneFileThatIsAtFault) {
  LayerPlan plan = RandomPlan(3);
  plan.files.push_back({.kind = 'f', .name_size = 8, .size = 777'000, .seed = 1, .has_xattr = true});
  const auto fails = [](const LayerPlan& p) {
    return std::any_of(p.files.begin(), p.files.end(), [](const PlannedFile& file) { return file.size > 300'000; });
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const LayerPlan& candidate : SmallerPlans(plan)) {
      if (!fails(candidate)) continue;
      plan = candidate;
      smaller = true;
      break;
    }
  }
  EXPECT_EQ(plan.files.size(), 1u);
  EXPECT_TRUE(plan.members.empty());
  EXPECT_LT(plan.files[0].size, 600'001u);
}

}  // namespace
}  // namespace soci::test
