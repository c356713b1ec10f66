#include "tests/layers/indexed_layer.h"

#include <fmt/format.h>
#include <zlib.h>

#include <stdexcept>

#include "indexer/base/byte_source.h"
#include "indexer/base/byte_stream.h"
#include "indexer/table/table_compiler.h"
#include "indexer/ztoc/layer_scanner.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci::test {
namespace {

template <typename T>
T Take(Result<T> result, std::string_view step) {
  if (!result.ok()) throw std::runtime_error(fmt::format("{}: {}", step, Message(result.status())));
  return *std::move(result);
}

}  // namespace

ByteSpan IndexedLayer::Decoded(SpanId span) const {
  const UncompressedRange range = table->Extent(span).uncompressed;
  return AsBytes(tar).subspan(range.begin, range.size());
}

std::string GzipBlocks(std::string_view bytes, uint64_t block_size) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 64 + (block_size == 0 ? 0 : bytes.size() / block_size * 16), 0);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  while (block_size != 0 && bytes.size() > block_size) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(block_size);
    deflate(&stream, Z_BLOCK);
    bytes.remove_prefix(block_size);
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  const int end = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (end != Z_STREAM_END) throw std::runtime_error("deflate did not end");
  return out;
}

IndexedLayer MakeIndexedLayer(std::string tar, const IndexedLayerOptions& options) {
  std::string blob = options.compression == Compression::kGzip ? GzipBlocks(tar, options.block_size) : tar;
  return IndexLayer(std::move(tar), std::move(blob), options);
}

IndexedLayer IndexLayer(std::string tar, std::string blob, const IndexedLayerOptions& options) {
  IndexedLayer layer;
  layer.tar = std::move(tar);
  layer.blob = std::move(blob);
  const std::unique_ptr<ByteSource> source = MakeMemorySource(layer.blob);
  const std::unique_ptr<ByteStream> stream = MakeSourceStream(*source, {});
  ScanOptions scan;
  scan.span_size = options.span_size;
  ScannedLayer scanned = Take(ScanLayer(*stream, options.compression, scan), "scanning");
  layer.ztoc = test::Unpack(std::move(scanned.ztoc));
  layer.digest = scanned.layer;
  layer.diff_id = scanned.diff_id;
  layer.table_bytes = Take(CompileTable(layer.ztoc, layer.digest), "compiling");
  layer.table = Take(LayerTable::FromBytes(layer.table_bytes, layer.digest), "opening");
  return layer;
}

}  // namespace soci::test
