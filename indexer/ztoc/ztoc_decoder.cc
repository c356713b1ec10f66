// Reads a zTOC that anybody may have written. FlatBuffers' verifier proves that every offset stays inside; the checks
// at the end prove that spans lie in order and inside the layer. The entries have a file of their own.
#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "indexer/codec/zinfo.h"
#include "indexer/ztoc/ztoc.h"
#include "indexer/ztoc/ztoc_entries.h"
#include "proto/ztoc/tar_zinfo_generated.h"
#include "proto/ztoc/ztoc_generated.h"

namespace soci {
namespace {

constexpr flatbuffers::uoffset_t kMaxDepth = 8;  // the schema nests five deep
constexpr flatbuffers::uoffset_t kMaxTables = 100'000'000;
constexpr uint64_t kMaxOffset = uint64_t{1} << 62;
// A byte of deflate data cannot become more: 258 bytes from a length code and a distance code of one bit each.
constexpr uint64_t kMaxExpansion = 1032;

Status Malformed(std::string_view what) { return absl::InvalidArgumentError(fmt::format("zTOC malformed: {}", what)); }

std::string_view ViewOfText(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

class HeadDecoder {
 public:
  // Everything but the entries. The windows stay in the bytes.
  Status Decode(std::string_view bytes);

  ZtocHead& head() { return ztoc_; }
  std::vector<ByteSpan>& windows() { return windows_; }

 private:
  Status TakeSizes(const fbs::Ztoc& root);
  Status TakeCompression(const fbs::CompressionInfo& info);
  Status TakeTarZinfo(std::string_view bytes);
  Status CheckSpans() const;

  ZtocHead ztoc_;
  std::vector<ByteSpan> windows_;
};

Status HeadDecoder::Decode(std::string_view bytes) {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), kMaxDepth, kMaxTables);
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE || !fbs::VerifyZtocBuffer(verifier)) {
    return Malformed("not a FlatBuffer of this kind");
  }
  const fbs::Ztoc& root = *fbs::GetZtoc(bytes.data());
  SOCI_RETURN_IF_ERROR(TakeSizes(root));
  ztoc_.build_tool = ViewOfText(root.build_tool_identifier());
  if (root.compression_info() == nullptr) return Malformed("no compression info");
  SOCI_RETURN_IF_ERROR(TakeCompression(*root.compression_info()));
  return CheckSpans();
}

Status HeadDecoder::TakeSizes(const fbs::Ztoc& root) {
  if (root.compressed_archive_size() < 0 || root.uncompressed_archive_size() < 0) return Malformed("negative size");
  ztoc_.compressed_size = static_cast<uint64_t>(root.compressed_archive_size());
  ztoc_.uncompressed_size = static_cast<uint64_t>(root.uncompressed_archive_size());
  if (std::max(ztoc_.compressed_size, ztoc_.uncompressed_size) > kMaxOffset) return Malformed("size beyond all bounds");
  return OkStatus();
}

Status HeadDecoder::TakeCompression(const fbs::CompressionInfo& info) {
  const std::string_view zinfo_bytes =
      info.checkpoints()
          ? std::string_view(reinterpret_cast<const char*>(info.checkpoints()->data()), info.checkpoints()->size())
          : std::string_view();
  switch (info.compression_algorithm()) {
    case fbs::CompressionAlgorithm::Gzip: {
      ztoc_.compression = Compression::kGzip;
      SOCI_ASSIGN_OR_RETURN(ZinfoView zinfo, ViewZinfo(zinfo_bytes));
      ztoc_.span_size = zinfo.span_size;
      ztoc_.checkpoints = std::move(zinfo.checkpoints);
      windows_ = std::move(zinfo.windows);
      break;
    }
    case fbs::CompressionAlgorithm::Uncompressed:
      ztoc_.compression = Compression::kUncompressed;
      SOCI_RETURN_IF_ERROR(TakeTarZinfo(zinfo_bytes));
      break;
    default:
      return Malformed(fmt::format("unknown compression {}", static_cast<int>(info.compression_algorithm())));
  }
  const uint64_t digests = info.span_digests() ? info.span_digests()->size() : 0;
  if (int64_t{info.max_span_id()} + 1 != static_cast<int64_t>(digests)) {
    return Malformed(fmt::format("{} span digests, but the last span is {}", digests, info.max_span_id()));
  }
  ztoc_.span_digests.reserve(digests);
  for (uint64_t i = 0; i < digests; ++i) {
    const flatbuffers::String& text = *info.span_digests()->Get(static_cast<flatbuffers::uoffset_t>(i));
    Result<oci::Digest> digest = oci::Digest::Parse({text.c_str(), text.size()});
    if (!digest.ok()) return Malformed(fmt::format("digest of span {}: {}", i, Message(digest.status())));
    ztoc_.span_digests.push_back(*digest);
  }
  return OkStatus();
}

Status HeadDecoder::TakeTarZinfo(std::string_view bytes) {
  // The inner buffer need not be aligned inside the outer one, so it is read from a copy.
  if (bytes.size() > 4096) return Malformed("oversized info of a plain tar");
  std::vector<uint64_t> aligned((bytes.size() + 7) / 8);
  if (!bytes.empty()) std::memcpy(aligned.data(), bytes.data(), bytes.size());
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(aligned.data()), bytes.size(), kMaxDepth, kMaxTables);
  if (!fbs::VerifyTarZinfoBuffer(verifier)) return Malformed("info of a plain tar is no FlatBuffer");
  const fbs::TarZinfo& zinfo = *fbs::GetTarZinfo(aligned.data());
  if (zinfo.span_size() <= 0) return Malformed(fmt::format("span size {}", zinfo.span_size()));
  if (zinfo.size() < 0 || static_cast<uint64_t>(zinfo.size()) != ztoc_.compressed_size) {
    return Malformed("two sizes of one plain tar");
  }
  ztoc_.span_size = static_cast<uint64_t>(zinfo.span_size());
  return OkStatus();
}

Status HeadDecoder::CheckSpans() const {
  if (ztoc_.compression == Compression::kUncompressed) {
    if (ztoc_.uncompressed_size > ztoc_.compressed_size) return Malformed("a plain tar longer than its layer");
    const uint64_t spans = ztoc_.compressed_size / ztoc_.span_size + (ztoc_.compressed_size % ztoc_.span_size != 0);
    if (spans != ztoc_.span_digests.size()) {
      return Malformed(fmt::format("{} spans, but {} span digests", spans, ztoc_.span_digests.size()));
    }
    return OkStatus();
  }
  const std::vector<Checkpoint>& points = ztoc_.checkpoints;
  if (points.empty()) return Malformed("no checkpoint");
  if (points.size() != ztoc_.span_digests.size()) {
    return Malformed(fmt::format("{} checkpoints, but {} span digests", points.size(), ztoc_.span_digests.size()));
  }
  if (points[0].uncompressed != 0) return Malformed("the first span does not begin at 0");
  for (size_t i = 0; i < points.size(); ++i) {
    const uint64_t begin = points[i].compressed;
    const bool last = i + 1 == points.size();
    const uint64_t end = last ? ztoc_.compressed_size : points[i + 1].compressed;
    if (points[i].bits != 0 && begin == 0) return Malformed("a span begins before the layer");
    if (begin >= end) return Malformed(fmt::format("span {} is empty or goes backwards", i));
    const uint64_t from = points[i].uncompressed;
    const uint64_t to = last ? std::max(from, ztoc_.uncompressed_size) : points[i + 1].uncompressed;
    if (to < from) return Malformed(fmt::format("span {} decodes backwards", i));
    // Empty blocks or members in front of all data give several checkpoints at 0: empty spans, which nobody reads.
    if (to == from && !last && from != 0) return Malformed(fmt::format("span {} decodes to nothing", i));
    if ((to - from) / kMaxExpansion > end - begin + 1)
      return Malformed(fmt::format("span {} cannot expand that far", i));
  }
  return OkStatus();
}

}  // namespace

Result<ZtocView> ViewZtoc(std::string_view bytes) {
  // FlatBuffers loads its numbers in place and wants them aligned.
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) != 0) {
    return absl::InternalError("a zTOC to be viewed is not aligned");
  }
  HeadDecoder decoder;
  SOCI_RETURN_IF_ERROR(decoder.Decode(bytes));
  ZtocView view;
  SOCI_ASSIGN_OR_RETURN(view.entries, ZtocEntries::Check(bytes, decoder.head()));
  static_cast<ZtocHead&>(view) = std::move(decoder.head());
  view.windows = std::move(decoder.windows());
  return view;
}

}  // namespace soci
