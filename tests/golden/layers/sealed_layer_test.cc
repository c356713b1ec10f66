// Every golden layer goes its whole way: index as it is published, table, spans, and the sealed directory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "fuse/store/layer_store.h"
#include "indexer/base/byte_source.h"
#include "indexer/base/byte_stream.h"
#include "indexer/codec/span_decoder.h"
#include "indexer/table/stream_tail.h"
#include "indexer/table/table_compiler.h"
#include "indexer/ztoc/layer_scanner.h"
#include "tests/golden/layers/golden_layer.h"
#include "tests/support/temporary_directory.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci::golden {
namespace {

// Layers that the reference tool indexes although no reader of its tables can serve them right, and where we stop.
const std::map<std::string, std::string>& NotServed() {
  static const std::map<std::string, std::string> layers = {
      {"c08-pax-sparse-1.0", "is sparse"},
      {"c09-pax-sparse-0.1", "is sparse"},
      {"c12-gnu-longnames-docker-type", "a name of 300 bytes is longer than the kernel allows"},
  };
  return layers;
}

struct Published {
  ScannedLayer scanned;
  std::shared_ptr<const LayerTable> table;
};

Result<Published> Publish(const Layer& layer, const ByteSource& source) {
  const auto stream = MakeSourceStream(source, {});
  SOCI_ASSIGN_OR_RETURN(ScannedLayer scanned, ScanLayer(*stream, layer.compression, {.span_size = layer.span_size}));
  SOCI_ASSIGN_OR_RETURN(const std::string bytes, EncodeZtoc(scanned.ztoc));
  SOCI_ASSIGN_OR_RETURN(const test::Ztoc ztoc, test::DecodeZtoc(bytes));
  SOCI_ASSIGN_OR_RETURN(std::string table_bytes, CompileTable(ztoc, scanned.layer));
  SOCI_ASSIGN_OR_RETURN(auto table, LayerTable::FromBytes(std::move(table_bytes), scanned.layer));
  return Published{std::move(scanned), std::move(table)};
}

Status FetchAll(const LayerTable& table, const std::string& blob, LayerStore& store) {
  for (uint32_t i = 0; i < table.span_count(); ++i) {
    const SpanExtent extent = table.Extent(SpanId{i});
    const ByteSpan compressed = AsBytes(blob).subspan(extent.compressed.begin, extent.compressed.size());
    if (oci::Digest::Of(compressed) != table.SpanDigest(SpanId{i})) return absl::InternalError("span digest");
    Window window;
    SOCI_RETURN_IF_ERROR(table.LoadWindow(SpanId{i}, window));
    ByteBuffer out(extent.uncompressed.size());
    const ByteSpan used = table.compression() == Compression::kGzip ? ByteSpan(window) : ByteSpan();
    SOCI_RETURN_IF_ERROR(DecoderFor(table.compression()).Decode(extent, used, compressed, out));
    SOCI_RETURN_IF_ERROR(store.CheckSpan(SpanId{i}, out));
    SOCI_RETURN_IF_ERROR(store.WriteSpan(SpanId{i}, out));
  }
  return OkStatus();
}

class SealedLayer : public ::testing::TestWithParam<Layer> {};

TEST_P(SealedLayer, IsSealedWithTheRightDiffId) {
  if (::geteuid() != 0) GTEST_SKIP() << "layers hold devices and owners: needs root";
  const test::TemporaryDirectory root;
  const std::string blob = ReadBlob(GetParam());
  const auto source = MakeMemorySource(blob);
  const auto run = [&]() -> Status {
    SOCI_ASSIGN_OR_RETURN(const Published published, Publish(GetParam(), *source));
    FdCache files;
    SOCI_ASSIGN_OR_RETURN(const auto store, LayerStore::Open(root / "layer", published.table, files));
    SOCI_RETURN_IF_ERROR(FetchAll(*published.table, blob, *store));
    SealRequest request{.diff_id = published.scanned.diff_id, .read_tail = {}, .stop = {}};
    request.read_tail = [&](const auto& sink) { return ReadStreamTail(*published.table, *source, {}, sink); };
    return store->Seal(request);
  };
  const Status status = run();
  const auto reason = NotServed().find(GetParam().name);
  if (reason == NotServed().end()) {
    EXPECT_TRUE(status.ok()) << status;
  } else {
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.ToString().find(reason->second), std::string::npos) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, SealedLayer, ::testing::ValuesIn(LayersWhere(true)), TestName);

}  // namespace
}  // namespace soci::golden
