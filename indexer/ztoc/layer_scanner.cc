#include "indexer/ztoc/layer_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "indexer/codec/gzip_decoder.h"
#include "indexer/oci/digest.h"
#include "indexer/ztoc/block_threads.h"
#include "indexer/ztoc/layer_hasher.h"
#include "indexer/ztoc/tar_thread.h"
#include "indexer/ztoc/toc_collector.h"

namespace soci {
namespace {

constexpr size_t kReadSize = 256 << 10;
constexpr uint64_t kMaxSpanSize = uint64_t{1} << 62;

// Passes bytes on and tells how many have gone by.
class CountingStream final : public ByteStream {
 public:
  CountingStream(ByteStream& stream, const ScanOptions& options) : stream_(stream), options_(options) {}

  Result<size_t> Read(MutableByteSpan out) override {
    SOCI_ASSIGN_OR_RETURN(const size_t count, stream_.Read(out));
    size_ += count;
    if (options_.progress && count > 0) options_.progress(size_);
    return count;
  }

  uint64_t size() const { return size_; }

 private:
  ByteStream& stream_;
  const ScanOptions& options_;
  uint64_t size_ = 0;
};

// What a gzip layer's decoder meets on the way.
class GzipNotes final : public GzipDecoder::Observer {
 public:
  GzipNotes(ZtocDraft& ztoc, TarThread& tar) : ztoc_(ztoc), tar_(tar) {}

  Status OnCompressed(ByteSpan bytes) override { return hashes_.OnCompressed(bytes); }

  Status OnCheckpoint(const Checkpoint& checkpoint, ByteSpan window) override {
    hashes_.OnCheckpoint(checkpoint);
    ztoc_.checkpoints.push_back(checkpoint);
    std::memcpy(ztoc_.windows.emplace_back().data(), window.data(), kWindowSize);
    return OkStatus();
  }

  Status OnMember(MemberKind kind) override {
    if (kind == MemberKind::kGzip) return OkStatus();
    SOCI_RETURN_IF_ERROR(tar_.Drain());
    if (!tar_.toc().at_end()) {
      return absl::InvalidArgumentError("gzip header invalid: a zlib stream before the archive's end");
    }
    has_zlib_stream_ = true;
    return OkStatus();
  }

  bool has_zlib_stream() const { return has_zlib_stream_; }
  Result<LayerHasher::Digests> Digests() { return hashes_.Finish(); }

 private:
  ZtocDraft& ztoc_;
  TarThread& tar_;
  LayerHasher hashes_;
  bool has_zlib_stream_ = false;
};

bool HasRepeatedStart(const ZtocHead& ztoc) {
  return ztoc.checkpoints.size() > 1 && ztoc.checkpoints[1].uncompressed == 0;
}

void TakeToc(TocCollector& toc, ScannedLayer& layer) {
  layer.ztoc.uncompressed_size = toc.position();
  layer.ztoc.entries = toc.TakeEntries();
  layer.hazards = toc.TakeHazards();
}

Status ScanGzip(ByteStream& stream, TarObserver* observer, ScannedLayer& layer) {
  TarThread tar(observer);
  GzipNotes notes(layer.ztoc, tar);
  GzipDecoder decoder(stream, layer.ztoc.span_size, &notes);
  while (true) {
    Result<ByteSpan> piece = decoder.Next();
    if (!piece.ok()) {
      // What the archive itself has wrong comes first in the layer, and says more.
      SOCI_RETURN_IF_ERROR(tar.Drain());
      return std::move(piece).status();
    }
    if (piece->empty()) break;
    SOCI_RETURN_IF_ERROR(tar.Push(*piece));
  }
  SOCI_RETURN_IF_ERROR(tar.Finish());
  layer.diff_id = tar.TakeDiffId();
  SOCI_ASSIGN_OR_RETURN(LayerHasher::Digests digests, notes.Digests());
  layer.layer = digests.layer;
  layer.ztoc.span_digests = std::move(digests.spans);
  TakeToc(tar.toc(), layer);
  if (notes.has_zlib_stream())
    layer.hazards.push_back({Hazard::kForeignStream, "a zlib stream after the gzip members"});
  if (HasRepeatedStart(layer.ztoc)) layer.hazards.push_back({Hazard::kRepeatedStart, "empty blocks before all data"});
  return OkStatus();
}

Status ScanPlain(ByteStream& stream, const ScanOptions& options, ScannedLayer& layer) {
  TocCollector toc(options.observer);
  BlockThreads tar({[&toc](ByteSpan bytes) { return toc.Push(bytes); }});
  LayerHasher hashes;
  std::vector<std::byte> buffer(kReadSize);
  uint64_t left_in_span = 0;
  uint64_t position = 0;
  size_t spans = 0;
  while (true) {
    SOCI_ASSIGN_OR_RETURN(const size_t count, stream.Read(buffer));
    if (count == 0) break;
    ByteSpan bytes = ByteSpan(buffer).first(count);
    SOCI_RETURN_IF_ERROR(tar.Push(bytes));
    while (!bytes.empty()) {
      if (left_in_span == 0) {
        if (options.hash_spans) hashes.OnCheckpoint({.compressed = position, .uncompressed = position, .bits = 0});
        left_in_span = layer.ztoc.span_size;
        ++spans;
      }
      const size_t part = static_cast<size_t>(std::min<uint64_t>(left_in_span, bytes.size()));
      SOCI_RETURN_IF_ERROR(hashes.OnCompressed(bytes.first(part)));
      bytes = bytes.subspan(part);
      left_in_span -= part;
      position += part;
    }
  }
  SOCI_RETURN_IF_ERROR(tar.Drain());
  SOCI_RETURN_IF_ERROR(toc.Finish());
  SOCI_ASSIGN_OR_RETURN(LayerHasher::Digests digests, hashes.Finish());
  layer.layer = digests.layer;
  layer.ztoc.span_digests = std::move(digests.spans);
  layer.ztoc.span_digests.resize(spans);
  TakeToc(toc, layer);
  return OkStatus();
}

}  // namespace

const LayerHazard* ScannedLayer::WhyNotExact() const {
  for (const LayerHazard& hazard : hazards) {
    if (hazard.kind != Hazard::kRepeatedStart) return &hazard;
  }
  return nullptr;
}

Result<ScannedLayer> ScanLayer(ByteStream& stream, Compression compression, const ScanOptions& options) {
  if (options.span_size == 0 || options.span_size > kMaxSpanSize) {
    return absl::InvalidArgumentError(fmt::format("span size {} is not possible", options.span_size));
  }
  ScannedLayer layer;
  layer.ztoc.build_tool = options.build_tool;
  layer.ztoc.compression = compression;
  layer.ztoc.span_size = options.span_size;
  CountingStream counted(stream, options);
  const bool is_gzip = compression == Compression::kGzip;
  SOCI_RETURN_IF_ERROR(is_gzip ? ScanGzip(counted, options.observer, layer) : ScanPlain(counted, options, layer));
  layer.ztoc.compressed_size = counted.size();
  if (!is_gzip) layer.diff_id = oci::DiffId(layer.layer);
  return layer;
}

}  // namespace soci
