// A record: any bytes are either refused or come back from their encoding as the same value. The input is tried as it
// is, and as the message within a zstd frame, which fuzzing would hardly ever guess. What is made of a sound record,
// merged, cut or carried over, is sound too.
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "indexer/oci/digest.h"
#include "indexer/record/assemble.h"
#include "indexer/record/merge_records.h"
#include "indexer/record/record_codec.h"
#include "indexer/record/transfer_record.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckWhatIsMadeOf(const soci::Record& record, size_t size) {
  soci::Record part = soci::FirstExtents(record, record.extents.size() / 2);
  if (!soci::CheckRecord(part).ok()) std::abort();
  const auto merged = soci::MergeRecords({part, record});
  Require(merged.ok() && soci::CheckRecord(*merged).ok());
  const auto cut = soci::CutRecord(record, size / 2 + 200);
  Require(!cut.ok() || soci::CheckRecord(*cut).ok());
  // Every path is a file of one size in the only layer of the next image.
  const uint64_t file_size = record.files.empty() ? 1 : record.files.front().size;
  const auto next = soci::TransferRecord(
      record, soci::oci::Digest::Of("next"), {soci::oci::LayerDigest(soci::oci::Digest::Of("layer"))},
      [&](const auto&, const auto&) { return std::optional(soci::LayerMember{file_size}); });
  Require(next.ok() && soci::CheckRecord(next->record).ok());
}

void CheckRoundTrip(std::string_view bytes) {
  const auto record = soci::DecodeRecord(bytes);
  if (!record.ok()) return;
  const auto encoded = soci::EncodeRecord(*record);
  if (!encoded.ok()) return;  // sound, but larger than what we would write
  const auto again = soci::DecodeRecord(*encoded);
  if (!again.ok() || *again != *record) std::abort();
  CheckWhatIsMadeOf(*record, encoded->size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  CheckRoundTrip({reinterpret_cast<const char*>(data), size});
  std::string frame(ZSTD_compressBound(size), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), data, size, 1));
  CheckRoundTrip(frame);
  return 0;
}
