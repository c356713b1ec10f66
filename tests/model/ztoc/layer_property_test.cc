// Whatever tar, whatever compressor, however the bytes arrive: the index is the one that zlib's boundaries give, and
// every file read through it is the file in the tar. A plan that fails is made as small as it can be before it is
// shown.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <map>

#include "indexer/base/file_io.h"
#include "indexer/codec/span_decoder.h"
#include "indexer/tar/reader.h"
#include "indexer/ztoc/layer_scanner.h"
#include "tests/gzip/scanned_gzip.h"
#include "tests/gzip/zlib_oracle.h"
#include "tests/model/ztoc/layer_plan.h"
#include "tests/support/temporary_directory.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci::test {
namespace {

Result<ScannedLayer> Scan(const std::string& blob, const LayerPlan& plan, size_t read_size) {
  TextStream stream(blob, read_size);
  return ScanLayer(stream, plan.plain ? Compression::kUncompressed : Compression::kGzip, {.span_size = plan.span_size});
}

// The time zone of the process, put back at the end. No other thread runs.
class InZone {
 public:
  explicit InZone(const char* zone) {
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
  ~InZone() {
    ::unsetenv("TZ");
    ::tzset();
  }
};

// What is wrong with the index of this blob, which is `tar` compressed; empty if nothing is.
std::string FaultOf(const LayerPlan& plan, const std::string& tar, const std::string& blob) {
  const Result<ScannedLayer> scanned = Scan(blob, plan, plan.read_size);
  if (!scanned.ok()) return scanned.status().ToString();
  if (scanned->WhyNotExact() != nullptr) return "a hazard: " + scanned->WhyNotExact()->reason;
  if (scanned->diff_id != oci::DiffId(oci::Digest::Of(tar))) return "DiffID";
  const Result<std::string> bytes = EncodeZtoc(scanned->ztoc);
  if (!bytes.ok()) return bytes.status().ToString();
  {
    const InZone elsewhere("Pacific/Chatham");
    const Result<ScannedLayer> again = Scan(blob, plan, 1 << 20);
    if (!again.ok() || *EncodeZtoc(again->ztoc) != *bytes) return "another zTOC in other portions and time zone";
  }
  if (!plan.plain) {
    const std::optional<OracleAnswer> oracle = AskZlib(blob, plan.span_size);
    if (!oracle || oracle->checkpoints != scanned->ztoc.checkpoints) return "other checkpoints than zlib's";
  }

  const Result<test::Ztoc> ztoc = test::DecodeZtoc(*bytes);
  if (!ztoc.ok()) return ztoc.status().ToString();
  if (*EncodeZtoc(*ztoc) != *bytes) return "does not read back as it was written";
  std::string readable;  // what the spans give, put together
  const std::vector<SpanExtent> spans = ztoc->Spans();
  for (size_t i = 0; i < spans.size(); ++i) {
    std::string decoded(spans[i].uncompressed.size(), '?');
    const Status status = DecoderFor(ztoc->compression)
                              .Decode(spans[i], plan.plain ? ByteSpan() : ByteSpan(ztoc->windows[i]),
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

std::string FaultOf(const LayerPlan& plan) {
  const std::string tar = plan.Tar();
  return FaultOf(plan, tar, plan.Blob(tar));
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

// The real programs beside what imitates them.
TEST(LayerProperty, HoldsForWhatTheProgramsOnThisMachineWrite) {
  TemporaryDirectory directory;
  for (const char* program : {"gzip -1", "gzip -9", "pigz -p 3 -b 128", "pigz -p 2 -i", "pigz -9 -R"}) {
    SCOPED_TRACE(program);
    for (unsigned seed = 1000; seed < 1004; ++seed) {
      LayerPlan plan = RandomPlan(seed);
      plan.plain = false;
      const std::string tar = plan.Tar(), in = directory / "in", out = directory / "out";
      ASSERT_TRUE(WriteFileAtomic(in, tar).ok());
      ASSERT_EQ(std::system((std::string(program) + " -c <" + in + " >" + out).c_str()), 0);
      EXPECT_EQ(FaultOf(plan, tar, ReadFile(out).value()), "") << "seed " << seed;
    }
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
