#include "indexer/record/record_codec.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "indexer/record/wire.h"

namespace soci {
namespace {

constexpr uint64_t kVersion = 1;
constexpr int kCompressionLevel = 19;  // 38 KB for `import torch`, a tenth of a second; level 3 makes it a third larger
constexpr size_t kMostMessageBytes = 16 << 20;

// Field numbers, never to be used anew. Of the message:
enum : uint32_t {
  kFieldVersion = 1,
  kManifest,
  kLayer,
  kFile,
  kExtentFiles,
  kExtentOffsets,
  kExtentPages,
  kThinkTimes,
  kRuns,
  kExtentRuns
};
// ... and of a file in it:
enum : uint32_t { kFileLayer = 1, kFilePath, kFileSize };

uint64_t Pages(uint64_t bytes) { return (bytes + kRecordPage - 1) / kRecordPage; }

std::string Compress(std::string_view message) {
  std::string packed(ZSTD_compressBound(message.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), message.data(), message.size(), kCompressionLevel));
  return packed;
}

Result<std::string> Decompress(std::string_view packed) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return absl::InvalidArgumentError("not a zstd frame of known size");
  }
  if (size > kMostMessageBytes) return absl::InvalidArgumentError(fmt::format("it would be {} bytes", size));
  std::string message(static_cast<size_t>(size), '\0');
  const size_t got = ZSTD_decompress(message.data(), message.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) || got != message.size()) return absl::InvalidArgumentError("its zstd frame is damaged");
  return message;
}

std::string EncodeFile(const RecordedFile& file) {
  WireWriter out;
  out.Number(kFileLayer, file.layer);
  out.Bytes(kFilePath, file.path);
  out.Number(kFileSize, file.size);
  return out.Take();
}

Result<RecordedFile> DecodeFile(std::string_view bytes) {
  WireReader in(bytes);
  RecordedFile file;
  while (true) {
    SOCI_ASSIGN_OR_RETURN(const std::optional<WireField> field, in.Next());
    if (!field) return file;
    if (field->is_bytes != (field->number == kFilePath))
      return absl::InvalidArgumentError("a file's field of another kind");
    if (field->number == kFileLayer) {
      file.layer = static_cast<uint32_t>(std::min<uint64_t>(field->value, std::numeric_limits<uint32_t>::max()));
    } else if (field->number == kFilePath) {
      file.path = std::string(field->bytes);
    } else if (field->number == kFileSize) {
      file.size = field->value;
    }
  }
}

struct Columns {
  std::vector<uint64_t> files, offsets, pages, think, runs;
};

Columns ColumnsOf(const Record& record) {
  Columns columns;
  int64_t file = 0;
  for (const RecordedExtent& extent : record.extents) {
    columns.files.push_back(ZigZag(int64_t{extent.file} - file));
    file = extent.file;
    columns.offsets.push_back(extent.offset / kRecordPage);
    columns.pages.push_back(Pages(extent.size));
    columns.think.push_back(extent.think_us / kThinkStep);
    if (!record.runs.empty()) columns.runs.push_back(extent.runs);
  }
  return columns;
}

// Whatever makes no sense becomes an extent that CheckRecord refuses.
Status AddExtents(const Columns& columns, Record& record) {
  const size_t count = columns.files.size();
  if (columns.offsets.size() != count || columns.pages.size() != count || columns.think.size() != count ||
      columns.runs.size() != (record.runs.empty() ? 0 : count)) {
    return absl::InvalidArgumentError("its extents' columns differ in length");
  }
  constexpr uint64_t kTooMany = std::numeric_limits<uint64_t>::max() / kRecordPage;
  uint64_t file = 0;
  for (size_t i = 0; i < count; ++i) {
    file += static_cast<uint64_t>(UnZigZag(columns.files[i]));
    if (file >= record.files.size()) return absl::InvalidArgumentError("an extent of a file that is none");
    if (columns.offsets[i] > kTooMany || columns.pages[i] > kTooMany || columns.think[i] > kTooMany) {
      return absl::InvalidArgumentError("an extent that makes no sense");
    }
    RecordedExtent extent;
    extent.file = static_cast<uint32_t>(file);
    extent.offset = columns.offsets[i] * kRecordPage;
    extent.size = columns.pages[i] * kRecordPage;
    const uint64_t size = record.files[file].size;
    // The last page ends with the file; what reaches further is left for the check to refuse.
    if (extent.offset < size && extent.size > 0 && Pages(size - extent.offset) == columns.pages[i]) {
      extent.size = size - extent.offset;
    }
    extent.think_us = columns.think[i] * kThinkStep;
    extent.runs = columns.runs.empty() ? 0 : columns.runs[i];
    record.extents.push_back(extent);
  }
  return OkStatus();
}

Status TakeBytes(const WireField& field, Record& record, Columns& columns) {
  switch (field.number) {
    case kManifest: {
      SOCI_ASSIGN_OR_RETURN(record.manifest, oci::Digest::Parse(field.bytes));
      return OkStatus();
    }
    case kLayer: {
      if (record.layers.size() == kMostRecordLayers) return absl::InvalidArgumentError("too many layers");
      SOCI_ASSIGN_OR_RETURN(oci::LayerDigest layer, oci::LayerDigest::Parse(field.bytes));
      record.layers.push_back(layer);
      return OkStatus();
    }
    case kFile: {
      if (record.files.size() == kMostRecordExtents) return absl::InvalidArgumentError("too many files");
      SOCI_ASSIGN_OR_RETURN(RecordedFile file, DecodeFile(field.bytes));
      record.files.push_back(std::move(file));
      return OkStatus();
    }
    case kRuns: {
      SOCI_ASSIGN_OR_RETURN(record.runs, UnpackNumbers(field.bytes, kMostRecordRuns));
      return OkStatus();
    }
    case kExtentRuns: {
      SOCI_ASSIGN_OR_RETURN(columns.runs, UnpackNumbers(field.bytes, kMostRecordExtents));
      return OkStatus();
    }
    default:
      break;
  }
  std::vector<uint64_t>* const places[] = {&columns.files, &columns.offsets, &columns.pages, &columns.think};
  if (field.number < kExtentFiles || field.number > kThinkTimes) return OkStatus();  // of a later minor version
  SOCI_ASSIGN_OR_RETURN(*places[field.number - kExtentFiles], UnpackNumbers(field.bytes, kMostRecordExtents));
  return OkStatus();
}

Result<Record> DecodeMessage(std::string_view message) {
  WireReader in(message);
  Record record;
  Columns columns;
  uint64_t version = 0;
  while (true) {
    SOCI_ASSIGN_OR_RETURN(const std::optional<WireField> field, in.Next());
    if (!field) break;
    if (field->number == kFieldVersion && !field->is_bytes) {
      version = field->value;
      if (version > kVersion) {
        return absl::FailedPreconditionError(
            fmt::format("it is of format version {}, this program knows {}", version, kVersion));
      }
    } else if (field->is_bytes) {
      SOCI_RETURN_IF_ERROR(TakeBytes(*field, record, columns));
    }
  }
  if (version != kVersion) return absl::InvalidArgumentError("it names no format version");
  SOCI_RETURN_IF_ERROR(AddExtents(columns, record));
  SOCI_RETURN_IF_ERROR(CheckRecord(record));
  return record;
}

std::string EncodeMessage(const Record& record) {
  WireWriter out;
  out.Number(kFieldVersion, kVersion);
  out.Bytes(kManifest, record.manifest.ToString());
  for (const oci::LayerDigest& layer : record.layers) out.Bytes(kLayer, layer.ToString());
  for (const RecordedFile& file : record.files) out.Bytes(kFile, EncodeFile(file));
  const Columns columns = ColumnsOf(record);
  out.Packed(kExtentFiles, columns.files);
  out.Packed(kExtentOffsets, columns.offsets);
  out.Packed(kExtentPages, columns.pages);
  out.Packed(kThinkTimes, columns.think);
  out.Packed(kRuns, record.runs);
  out.Packed(kExtentRuns, columns.runs);
  return out.Take();
}

}  // namespace

uint64_t RunName(const Record& record) {
  const oci::Digest digest = oci::Digest::Of(EncodeMessage(record));
  uint64_t name = 0;
  for (const std::byte byte : ByteSpan(digest.raw()).first(sizeof(name))) name = name << 8 | static_cast<uint8_t>(byte);
  return name;
}

Result<std::string> EncodeRecord(const Record& record) {
  if (Status sound = CheckRecord(record); !sound.ok()) return Annotate(sound, "the record");
  const std::string message = EncodeMessage(record);
  std::string packed = message.size() > kMostMessageBytes ? std::string() : Compress(message);
  if (packed.empty() || packed.size() > kMostRecordBytes) {
    return absl::InvalidArgumentError(fmt::format("the record: {} extents in {} files are more than one may hold",
                                                  record.extents.size(), record.files.size()));
  }
  return packed;
}

Result<Record> DecodeRecord(std::string_view bytes) {
  if (bytes.size() > kMostRecordBytes) {
    return absl::InvalidArgumentError(
        fmt::format("the record: {} bytes, more than {}", bytes.size(), kMostRecordBytes));
  }
  auto message = Decompress(bytes);
  if (!message.ok()) return Annotate(message.status(), "the record");
  auto record = DecodeMessage(*message);
  if (!record.ok()) return Annotate(record.status(), "the record");
  return record;
}

Result<Record> DecodeRecordOf(const oci::Digest& manifest, std::string_view bytes) {
  SOCI_ASSIGN_OR_RETURN(Record record, DecodeRecord(bytes));
  if (record.manifest != manifest) {
    return absl::InvalidArgumentError(
        fmt::format("the record is about {}, not {}", record.manifest.ToString(), manifest.ToString()));
  }
  return record;
}

}  // namespace soci
