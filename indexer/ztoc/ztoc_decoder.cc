// Reads a zTOC that anybody may have written. FlatBuffers' verifier proves that every offset stays inside; the limits
// below keep a small file from standing for a large value (one table or text named many times), and the checks at the
// end prove that spans and members lie in order and inside the layer.
#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "indexer/codec/zinfo.h"
#include "indexer/tar/header.h"
#include "indexer/tar/number.h"
#include "indexer/tar/sparse.h"
#include "indexer/ztoc/entry_type.h"
#include "indexer/ztoc/mod_time.h"
#include "indexer/ztoc/ztoc.h"
#include "proto/ztoc/tar_zinfo_generated.h"
#include "proto/ztoc/ztoc_generated.h"

namespace soci {
namespace {

constexpr flatbuffers::uoffset_t kMaxDepth = 8;  // the schema nests five deep
constexpr flatbuffers::uoffset_t kMaxTables = 100'000'000;
constexpr uint64_t kMaxOffset = uint64_t{1} << 62;
// The least bytes that one of these takes when it is not shared: values may not outgrow the file they came from.
constexpr uint64_t kBytesPerEntry = 64;
constexpr uint64_t kBytesPerRecord = 24;
// A byte of deflate data cannot become more: 258 bytes from a length code and a distance code of one bit each.
constexpr uint64_t kMaxExpansion = 1032;

Status Malformed(std::string_view what) { return absl::InvalidArgumentError(fmt::format("zTOC malformed: {}", what)); }

// What may still be taken from the file.
class Budget {
 public:
  explicit Budget(uint64_t size) : left_(size) {}
  Status Take(uint64_t count, std::string_view what) {
    if (count > left_) return Malformed(fmt::format("{} take more room than the file has", what));
    left_ -= count;
    return OkStatus();
  }

 private:
  uint64_t left_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes), texts_(bytes.size()), tables_(bytes.size()) {}

  // All but the entries. The windows stay in the bytes.
  Status DecodeHead();
  // Each entry as the table has it, not placed yet. After DecodeHead.
  Status DecodeEntries(const std::function<Status(tar::Entry)>& sink);
  // A zTOC tells only where data begins: the header begins where the member before it ends, rounded up to a block.
  // Called in tar order.
  Status Place(tar::Entry& entry);

  ZtocHead& head() { return ztoc_; }
  std::vector<ByteSpan>& windows() { return windows_; }
  size_t entry_count() const;

 private:
  Status TakeSizes(const fbs::Ztoc& root);
  Result<tar::Entry> TakeEntry(const fbs::FileMetadata& file);
  Status TakeRecords(const fbs::FileMetadata& file, tar::Entry& entry);
  Status TakeText(const flatbuffers::String* text, std::string& out);
  Status TakeCompression(const fbs::CompressionInfo& info);
  Status TakeTarZinfo(std::string_view bytes);
  Status CheckSpans() const;

  std::string_view bytes_;
  Budget texts_;
  Budget tables_;
  ZtocHead ztoc_;
  std::vector<ByteSpan> windows_;
  uint64_t next_header_ = 0;
};

Status Decoder::DecodeHead() {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes_.data()), bytes_.size(), kMaxDepth, kMaxTables);
  if (bytes_.size() >= FLATBUFFERS_MAX_BUFFER_SIZE || !fbs::VerifyZtocBuffer(verifier)) {
    return Malformed("not a FlatBuffer of this kind");
  }
  const fbs::Ztoc& root = *fbs::GetZtoc(bytes_.data());
  SOCI_RETURN_IF_ERROR(TakeSizes(root));
  SOCI_RETURN_IF_ERROR(TakeText(root.build_tool_identifier(), ztoc_.build_tool));
  if (root.compression_info() == nullptr) return Malformed("no compression info");
  SOCI_RETURN_IF_ERROR(TakeCompression(*root.compression_info()));
  SOCI_RETURN_IF_ERROR(CheckSpans());
  return tables_.Take(uint64_t{entry_count()} * kBytesPerEntry, "entries");
}

size_t Decoder::entry_count() const {
  const fbs::TOC* const toc = fbs::GetZtoc(bytes_.data())->toc();
  return toc == nullptr || toc->metadata() == nullptr ? 0 : toc->metadata()->size();
}

Status Decoder::DecodeEntries(const std::function<Status(tar::Entry)>& sink) {
  if (entry_count() == 0) return OkStatus();
  for (const fbs::FileMetadata* file : *fbs::GetZtoc(bytes_.data())->toc()->metadata()) {
    SOCI_ASSIGN_OR_RETURN(tar::Entry entry, TakeEntry(*file));
    SOCI_RETURN_IF_ERROR(sink(std::move(entry)));
  }
  return OkStatus();
}

Status Decoder::TakeSizes(const fbs::Ztoc& root) {
  if (root.compressed_archive_size() < 0 || root.uncompressed_archive_size() < 0) return Malformed("negative size");
  ztoc_.compressed_size = static_cast<uint64_t>(root.compressed_archive_size());
  ztoc_.uncompressed_size = static_cast<uint64_t>(root.uncompressed_archive_size());
  if (std::max(ztoc_.compressed_size, ztoc_.uncompressed_size) > kMaxOffset) return Malformed("size beyond all bounds");
  return OkStatus();
}

Status Decoder::TakeText(const flatbuffers::String* text, std::string& out) {
  out.clear();
  if (text == nullptr) return OkStatus();
  SOCI_RETURN_IF_ERROR(texts_.Take(text->size(), "texts"));
  out.assign(text->c_str(), text->size());
  return OkStatus();
}

Result<tar::Entry> Decoder::TakeEntry(const fbs::FileMetadata& file) {
  tar::Entry entry;
  SOCI_RETURN_IF_ERROR(TakeText(file.name(), entry.name));
  SOCI_RETURN_IF_ERROR(TakeText(file.linkname(), entry.link_name));
  SOCI_RETURN_IF_ERROR(TakeText(file.uname(), entry.uname));
  SOCI_RETURN_IF_ERROR(TakeText(file.gname(), entry.gname));
  SOCI_RETURN_IF_ERROR(TakeRecords(file, entry));
  const std::string_view type_name = file.type() ? std::string_view(file.type()->c_str(), file.type()->size()) : "";
  const std::optional<tar::EntryType> type = EntryTypeOf(type_name);
  if (!type) return Malformed(fmt::format("\"{}\" has an unknown type", entry.name));
  entry.type = *type;
  entry.mode = file.mode();
  entry.uid = file.uid();
  entry.gid = file.gid();
  entry.size = file.uncompressed_size();
  entry.device_major = file.devmajor();
  entry.device_minor = file.devminor();
  if (file.uncompressed_offset() < 0) return Malformed(fmt::format("\"{}\" has a negative offset", entry.name));
  entry.header.end = static_cast<uint64_t>(file.uncompressed_offset());

  const std::string_view time_text =
      file.mod_time() ? std::string_view(file.mod_time()->c_str(), file.mod_time()->size()) : "";
  ModTime time = ParseModTime(time_text).value_or(kNoModTime);
  if (time_text.empty()) {
    // A year that the text cannot tell. The member's own record still tells it.
    const auto record = entry.pax.find("mtime");
    const auto exact = record == entry.pax.end() ? std::nullopt : tar::ParsePaxTime(record->second);
    if (exact) time = {exact->seconds, exact->nanoseconds};
  }
  entry.mtime_seconds = time.seconds;
  entry.mtime_nanoseconds = time.nanoseconds;
  return entry;
}

Status Decoder::TakeRecords(const fbs::FileMetadata& file, tar::Entry& entry) {
  if (file.xattrs() == nullptr) return OkStatus();
  SOCI_RETURN_IF_ERROR(tables_.Take(uint64_t{file.xattrs()->size()} * kBytesPerRecord, "PAX records"));
  for (const fbs::Xattr* record : *file.xattrs()) {
    std::string key;
    std::string value;
    SOCI_RETURN_IF_ERROR(TakeText(record->key(), key));
    SOCI_RETURN_IF_ERROR(TakeText(record->value(), value));
    entry.pax.insert_or_assign(std::move(key), std::move(value));
  }
  return OkStatus();
}

Status Decoder::TakeCompression(const fbs::CompressionInfo& info) {
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

Status Decoder::TakeTarZinfo(std::string_view bytes) {
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

Status Decoder::CheckSpans() const {
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

Status Decoder::Place(tar::Entry& entry) {
  if (entry.header.end < next_header_ + tar::kBlockSize || entry.header.end > ztoc_.uncompressed_size) {
    return Malformed(fmt::format("\"{}\" lies over another member or outside the archive", entry.name));
  }
  entry.header.begin = next_header_;
  uint64_t size = 0;
  if (!tar::IsHeaderOnly(entry.type)) {
    if (tar::SparseFormatOf(entry.pax) != tar::SparseFormat::kNone) {
      return Malformed(fmt::format("\"{}\" is sparse: its content cannot be told", entry.name));
    }
    if (entry.size < 0 || static_cast<uint64_t>(entry.size) > ztoc_.uncompressed_size - entry.header.end) {
      return Malformed(fmt::format("content of \"{}\" lies outside the archive", entry.name));
    }
    size = static_cast<uint64_t>(entry.size);
  }
  entry.content = {entry.header.end, entry.header.end + size};
  next_header_ = tar::RoundToBlock(entry.content.end);
  return OkStatus();
}

Result<Ztoc> Decode(std::string_view bytes) {
  Decoder decoder(bytes);
  Ztoc ztoc;
  SOCI_RETURN_IF_ERROR(decoder.DecodeHead());
  ztoc.entries.reserve(decoder.entry_count());
  auto keep = [&](tar::Entry entry) {
    ztoc.entries.push_back(std::move(entry));
    return OkStatus();
  };
  SOCI_RETURN_IF_ERROR(decoder.DecodeEntries(keep));
  std::stable_sort(ztoc.entries.begin(), ztoc.entries.end(),
                   [](const tar::Entry& a, const tar::Entry& b) { return a.header.end < b.header.end; });
  for (tar::Entry& entry : ztoc.entries) SOCI_RETURN_IF_ERROR(decoder.Place(entry));
  for (const ByteSpan window : decoder.windows()) {
    std::memcpy(ztoc.windows.emplace_back().data(), window.data(), kWindowSize);
  }
  static_cast<ZtocHead&>(ztoc) = std::move(decoder.head());
  return ztoc;
}

bool IsAligned(std::string_view bytes) {
  // FlatBuffers loads its numbers in place and wants them aligned.
  return reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) == 0;
}

}  // namespace

Result<Ztoc> DecodeZtoc(std::string_view bytes) {
  if (IsAligned(bytes)) return Decode(bytes);
  std::vector<uint64_t> aligned(bytes.size() / sizeof(uint64_t) + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  return Decode({reinterpret_cast<const char*>(aligned.data()), bytes.size()});
}

Result<ZtocView> ViewZtoc(std::string_view bytes) {
  if (!IsAligned(bytes)) return absl::InternalError("a zTOC to be viewed is not aligned");
  Decoder decoder(bytes);
  ZtocView view;
  SOCI_RETURN_IF_ERROR(decoder.DecodeHead());
  bool in_order = true;
  uint64_t last = 0;
  auto pack = [&](tar::Entry entry) -> Status {
    in_order = in_order && entry.header.end >= last;
    last = entry.header.end;
    if (!in_order) return OkStatus();
    SOCI_RETURN_IF_ERROR(decoder.Place(entry));
    view.entries.Append(entry);
    return OkStatus();
  };
  SOCI_RETURN_IF_ERROR(decoder.DecodeEntries(pack));
  if (!in_order) {  // of no writer that we know: sorted in the memory that this takes
    SOCI_ASSIGN_OR_RETURN(const Ztoc ztoc, Decode(bytes));
    view.entries = ViewOf(ztoc).entries;
  }
  view.windows = std::move(decoder.windows());
  static_cast<ZtocHead&>(view) = std::move(decoder.head());
  return view;
}

}  // namespace soci
