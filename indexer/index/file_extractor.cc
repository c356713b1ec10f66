#include "indexer/index/file_extractor.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "indexer/base/units.h"
#include "indexer/codec/span_decoder.h"
#include "indexer/index/prefetch.h"
#include "indexer/index/tar_verifier.h"
#include "indexer/tar/reader.h"

namespace soci {
namespace {

constexpr uint64_t kMaxSpan = 1_GiB;
constexpr uint64_t kMaxHeader = 2_MiB;  // the tar reader's own bound is below
constexpr int kMaxLinks = 40;

Result<ByteBuffer> ReadSpan(const ByteSource& layer, const ZtocView& ztoc, size_t id, const SpanExtent& span,
                            const FetchContext& context) {
  const uint64_t compressed_size = span.compressed.end - span.compressed.begin;
  const uint64_t size = span.uncompressed.end - span.uncompressed.begin;
  if (std::max(size, compressed_size) > kMaxSpan) {
    return absl::ResourceExhaustedError(fmt::format("span {} has {} bytes, too many to decode at once", id, size));
  }
  ByteBuffer compressed(compressed_size);
  SOCI_RETURN_IF_ERROR(layer.ReadAt(span.compressed.begin, compressed, context));
  if (oci::Digest::Of(compressed) != ztoc.span_digests[id]) {
    return absl::DataLossError(fmt::format("span {}: its bytes do not match its digest", id));
  }
  ByteBuffer tar(size);
  const ByteSpan window = id < ztoc.windows.size() ? ztoc.windows[id] : ByteSpan();
  const Status decoded = DecoderFor(ztoc.compression).Decode(span, window, compressed, tar);
  if (!decoded.ok()) return Annotate(decoded, fmt::format("span {}", id));
  return tar;
}

struct PlacedEntry {
  size_t place = 0;  // among all
  tar::Entry entry;
};

// The last one of that cleaned name before the place `limit`.
Result<PlacedEntry> FindLast(const tar::Entries& entries, size_t limit, const std::string& name) {
  std::optional<PlacedEntry> found;
  const auto cursor = entries.Open();
  for (size_t place = 0; place < limit; ++place) {
    const tar::Entry* const entry = cursor->Next();
    if (entry == nullptr) break;
    if (CleanPath(entry->name) == name) found = {place, *entry};
  }
  if (!found) return absl::NotFoundError(fmt::format("{:?} is not in the layer", name));
  return *std::move(found);
}

// Takes [file.header.begin, file.content.end) of the tar in order: first the header, to be compared, then the content.
class FileReceiver {
 public:
  FileReceiver(const tar::Entry& file, const std::function<Status(ByteSpan)>& sink) : file_(file), sink_(sink) {}

  Status Take(ByteSpan bytes) {
    const uint64_t wanted = file_.header.end - file_.header.begin - header_.size();
    const ByteSpan of_header = bytes.first(std::min<uint64_t>(wanted, bytes.size()));
    header_.insert(header_.end(), of_header.begin(), of_header.end());
    bytes = bytes.subspan(of_header.size());
    if (!compared_ && of_header.size() == wanted) SOCI_RETURN_IF_ERROR(CompareHeader());
    return bytes.empty() ? OkStatus() : sink_(bytes);
  }

 private:
  Status CompareHeader() {
    compared_ = true;
    Result<tar::Entry> in_tar = tar::ParseHeader(header_, file_.header.begin);
    if (!in_tar.ok())
      return absl::DataLossError(fmt::format("no tar header where the index says: {}", Message(in_tar.status())));
    const std::string difference = EntryDifference(file_, *in_tar);
    return difference.empty() ? OkStatus() : absl::DataLossError(difference);
  }

  const tar::Entry& file_;
  const std::function<Status(ByteSpan)>& sink_;
  ByteBuffer header_;
  bool compared_ = false;
};

}  // namespace

Result<tar::Entry> FindFile(const ZtocView& ztoc, std::string_view path) {
  std::string name = CleanPath(path);
  size_t limit = ztoc.entries->size();  // entries before this place are looked at
  for (int links = 0; links < kMaxLinks; ++links) {
    Result<PlacedEntry> last = FindLast(*ztoc.entries, limit, name);
    if (!last.ok()) return last.status();
    if (last->entry.type == tar::EntryType::kRegular) return std::move(last->entry);
    if (last->entry.type != tar::EntryType::kHardLink) {
      return absl::FailedPreconditionError(fmt::format("{:?} is no regular file", name));
    }
    name = CleanPath(last->entry.link_name);  // of an entry that came before
    limit = last->place;
  }
  return absl::InvalidArgumentError(fmt::format("{:?} is behind too many hard links", name));
}

Status ExtractFile(const ByteSource& layer, const ZtocView& ztoc, const tar::Entry& file,
                   const std::function<Status(ByteSpan)>& sink, const FetchContext& context) {
  const uint64_t begin = file.header.begin, end = std::max(file.content.end, file.header.end);
  if (file.header.end - begin > kMaxHeader) return absl::InvalidArgumentError("its header is too long");
  FileReceiver receiver(file, sink);
  const std::vector<SpanExtent> spans = ztoc.Spans();
  for (size_t id = 0; id < spans.size(); ++id) {
    const UncompressedRange& range = spans[id].uncompressed;
    if (range.end <= begin || range.begin >= end) continue;
    SOCI_ASSIGN_OR_RETURN(const ByteBuffer tar, ReadSpan(layer, ztoc, id, spans[id], context));
    const uint64_t from = std::max(begin, range.begin), to = std::min(end, range.end);
    SOCI_RETURN_IF_ERROR(receiver.Take(ByteSpan(tar).subspan(from - range.begin, to - from)));
  }
  return OkStatus();
}

}  // namespace soci
