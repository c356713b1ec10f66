#include "snapshotter/unpack/unpack_layer.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "fuse/store/layer_sealer.h"
#include "indexer/base/byte_source.h"
#include "indexer/base/file_io.h"
#include "indexer/codec/detect.h"
#include "indexer/codec/stream_decoder.h"
#include "indexer/table/layer_table.h"
#include "indexer/table/table_compiler.h"
#include "indexer/ztoc/layer_scanner.h"
#include "snapshotter/unpack/backing_writer.h"
#include "snapshotter/unpack/ordered_download.h"
#include "snapshotter/unpack/unsynced_mark.h"

namespace soci {
namespace {

// A large layer's checkpoints cost time and memory, and nobody reads it span by span before it is evicted.
constexpr uint64_t kSmallLayer = 256_MiB;
constexpr uint64_t kSpanOfSmallLayer = 4_MiB;
constexpr uint64_t kSpanOfLargeLayer = 16_MiB;

// Gives a stream's first bytes twice: once to be looked at.
class PeekedStream final : public ByteStream {
 public:
  explicit PeekedStream(ByteStream& stream) : stream_(stream) {}

  Result<ByteSpan> Peek() {
    while (first_.size() < kDetectSize) {
      std::byte more[kDetectSize];
      SOCI_ASSIGN_OR_RETURN(const size_t count, stream_.Read(MutableByteSpan(more).first(kDetectSize - first_.size())));
      if (count == 0) break;
      first_.insert(first_.end(), more, more + count);
    }
    return ByteSpan(first_);
  }

  Result<size_t> Read(MutableByteSpan out) override {
    if (given_ == first_.size()) return stream_.Read(out);
    const size_t count = std::min(out.size(), first_.size() - given_);
    std::memcpy(out.data(), first_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  ByteStream& stream_;
  ByteBuffer first_;
  size_t given_ = 0;
};

// What goes by, hashed and counted. (The scanner does that too, but for zstd it sees only the decoded bytes.)
class HashedStream final : public ByteStream {
 public:
  HashedStream(ByteStream& stream, const std::function<void(uint64_t)>& progress)
      : stream_(stream), progress_(progress) {}

  Result<size_t> Read(MutableByteSpan out) override {
    SOCI_ASSIGN_OR_RETURN(const size_t count, stream_.Read(out));
    hasher_.Update(ByteSpan(out).first(count));
    size_ += count;
    if (progress_) progress_(size_);
    return count;
  }
  oci::LayerDigest TakeDigest() { return oci::LayerDigest(hasher_.Finish()); }

 private:
  ByteStream& stream_;
  const std::function<void(uint64_t)>& progress_;
  oci::Hasher hasher_;
  uint64_t size_ = 0;
};

struct ReadLayer {
  ScannedLayer scanned;
  oci::LayerDigest layer;
  bool seekable = true;
};

Result<ReadLayer> Read(ByteStream& blob, uint64_t size, const LayerToUnpack& wanted, TarObserver& observer) {
  PeekedStream peeked(blob);
  SOCI_ASSIGN_OR_RETURN(const ByteSpan first, peeked.Peek());
  // A v7 tar is not recognised; the tar reader tells what is none.
  const StreamFormat format = DetectCompression(first).value_or(StreamFormat::kPlainTar);
  ScanOptions options;
  options.span_size = size <= kSmallLayer ? kSpanOfSmallLayer : kSpanOfLargeLayer;
  options.observer = &observer;
  ReadLayer read;
  if (format != StreamFormat::kZstd) {
    options.progress = wanted.progress;
    const Compression compression = format == StreamFormat::kGzip ? Compression::kGzip : Compression::kUncompressed;
    SOCI_ASSIGN_OR_RETURN(read.scanned, ScanLayer(peeked, compression, options));
    read.layer = read.scanned.layer;
    return read;
  }
  HashedStream hashed(peeked, wanted.progress);
  const auto tar = DecodeStream(hashed, format);
  options.hash_spans = false;  // they are of the decoded bytes
  SOCI_ASSIGN_OR_RETURN(read.scanned, ScanLayer(*tar, Compression::kUncompressed, options));
  read.layer = hashed.TakeDigest();
  read.seekable = false;
  return read;
}

Status CheckDigests(const ReadLayer& read, const LayerToUnpack& wanted) {
  if (read.layer != wanted.layer) {
    return absl::DataLossError(fmt::format("the registry's bytes are {}", read.layer.ToString()));
  }
  if (read.scanned.diff_id != wanted.diff_id) {
    return absl::DataLossError(
        fmt::format("its DiffID is {}, the image says {}", read.scanned.diff_id.ToString(), wanted.diff_id.ToString()));
  }
  for (const LayerHazard& hazard : read.scanned.hazards) {
    if (hazard.kind == Hazard::kForeignStream) return absl::UnimplementedError(hazard.reason);
  }
  return OkStatus();
}

// Not synced, as nothing else in the folder is.
Status WritePlain(const std::string& path, std::string_view contents) {
  SOCI_ASSIGN_OR_RETURN(const UniqueFd file, OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  return WriteFullAt(file.get(), 0, AsBytes(contents), path);
}

Status WriteTable(const ReadLayer& read, const std::string& path) {
  SOCI_ASSIGN_OR_RETURN(const std::string table, CompileTable(ViewOf(read.scanned.ztoc), read.layer));
  return WritePlain(path, table);
}

Result<oci::Digest> WriteZtoc(ReadLayer read, const std::string& folder) {
  // A zTOC that says something else about the layer than its table is none to make the table from again.
  if (!read.seekable || read.scanned.WhyNotExact() != nullptr) return oci::Digest();
  SOCI_ASSIGN_OR_RETURN(const std::string ztoc, EncodeZtoc(std::move(read.scanned.ztoc)));
  SOCI_RETURN_IF_ERROR(WritePlain(folder + "/ztoc", ztoc));
  return oci::Digest::Of(ztoc);
}

Status SealFiles(const std::string& folder, std::shared_ptr<const LayerTable> table, const std::stop_token& stop) {
  const LayerFolder layer_folder(folder, table);
  const std::function<void()> no_step;
  LayerSealer sealer(layer_folder, *table, no_step);
  SOCI_RETURN_IF_ERROR(sealer.Build(stop));
  return RemoveWhatSealingLeaves(layer_folder);
}

}  // namespace

Result<UnpackedLayer> UnpackLayer(const ByteSource& blob, const LayerToUnpack& wanted, const std::string& folder,
                                  DownloadWindow& window, const FetchContext& context) {
  SOCI_RETURN_IF_ERROR(MarkUnsynced(folder));
  BackingWriter writer(folder, wanted.lowest);
  const auto stream = MakeOrderedDownload(blob, context, window, wanted.host);
  SOCI_ASSIGN_OR_RETURN(ReadLayer read, Read(*stream, blob.size(), wanted, writer));
  SOCI_RETURN_IF_ERROR(CheckDigests(read, wanted));
  const std::string table_path = folder + "/table";
  SOCI_RETURN_IF_ERROR(WriteTable(read, table_path));
  UnpackedLayer unpacked;
  SOCI_ASSIGN_OR_RETURN(unpacked.ztoc, WriteZtoc(std::move(read), folder));
  SOCI_ASSIGN_OR_RETURN(auto opened, LayerTable::Open(table_path, wanted.layer));
  SOCI_RETURN_IF_ERROR(SealFiles(folder, std::move(opened), context.stop));
  return unpacked;
}

}  // namespace soci
