// Reads a zTOC that anybody may have written. FlatBuffers' verifier proves that every offset stays inside; the limits
// below keep a small file from standing for a large value (one table or text named many times), and the checks at the
// end prove that spans and members lie in order and inside the layer.
#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
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

  Result<Ztoc> Decode();

 private:
  Status TakeSizes(const fbs::Ztoc& root);
  Status TakeEntries(const fbs::TOC* toc);
  Result<tar::Entry> TakeEntry(const fbs::FileMetadata& file);
  Status TakeRecords(const fbs::FileMetadata& file, tar::Entry& entry);
  Status TakeText(const flatbuffers::String* text, std::string& out);
  Status TakeCompression(const fbs::CompressionInfo& info);
  Status TakeTarZinfo(std::string_view bytes);
  Status PlaceEntries();
  Status CheckSpans() const;

  std::string_view bytes_;
  Budget texts_;
  Budget tables_;
  Ztoc ztoc_;
};

Result<Ztoc> Decoder::Decode() {
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
  SOCI_RETURN_IF_ERROR(TakeEntries(root.toc()));
  SOCI_RETURN_IF_ERROR(PlaceEntries());
  return std::move(ztoc_);
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

Status Decoder::TakeEntries(const fbs::TOC* toc) {
  if (toc == nullptr || toc->metadata() == nullptr) return OkStatus();
  const auto& files = *toc->metadata();
  SOCI_RETURN_IF_ERROR(tables_.Take(uint64_t{files.size()} * kBytesPerEntry, "entries"));
  ztoc_.entries.reserve(files.size());
  for (const fbs::FileMetadata* file : files) {
    SOCI_ASSIGN_OR_RETURN(tar::Entry entry, TakeEntry(*file));
    ztoc_.entries.push_back(std::move(entry));
  }
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
      SOCI_ASSIGN_OR_RETURN(Zinfo zinfo, DecodeZinfo(zinfo_bytes));
      ztoc_.span_size = zinfo.span_size;
      ztoc_.checkpoints = std::move(zinfo.checkpoints);
      ztoc_.windows = std::move(zinfo.windows);
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

// A zTOC tells only where data begins. A member's header begins where the member before it ends, rounded up to a block.
Status Decoder::PlaceEntries() {
  std::stable_sort(ztoc_.entries.begin(), ztoc_.entries.end(),
                   [](const tar::Entry& a, const tar::Entry& b) { return a.header.end < b.header.end; });
  uint64_t next = 0;
  for (tar::Entry& entry : ztoc_.entries) {
    if (entry.header.end < next + tar::kBlockSize || entry.header.end > ztoc_.uncompressed_size) {
      return Malformed(fmt::format("\"{}\" lies over another member or outside the archive", entry.name));
    }
    entry.header.begin = next;
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
    next = tar::RoundToBlock(entry.content.end);
  }
  return OkStatus();
}

}  // namespace

Result<Ztoc> DecodeZtoc(std::string_view bytes) {
  // FlatBuffers loads its numbers in place and wants them aligned.
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) == 0) return Decoder(bytes).Decode();
  std::vector<uint64_t> aligned(bytes.size() / sizeof(uint64_t) + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  return Decoder({reinterpret_cast<const char*>(aligned.data()), bytes.size()}).Decode();
}

}  // namespace soci
