#include "fuse/store/span_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "indexer/table/table_compiler.h"
#include "indexer/tar/reader.h"

namespace soci {
namespace {

// The tar reader refuses longer headers, so no scanner ever made a table with one.
constexpr uint64_t kMaxHeaderSize = 4 << 20;
constexpr uint64_t kTarBlock = 512;

UncompressedRange BlockAfterTheLastMember(const LayerTable& table) {
  uint64_t end = 0;
  if (table.header_count() != 0) end = table.Header(table.header_count() - 1).range.end;
  if (table.content_count() != 0) end = std::max(end, table.Content(table.content_count() - 1).range.end);
  end = (end + kTarBlock - 1) / kTarBlock * kTarBlock;
  return {end, end + kTarBlock};
}

}  // namespace

bool SpanChecker::Straddler::IsWhole(uint64_t size) const {
  uint64_t end = 0;
  for (const auto& [from, to] : known) {
    if (from > end) return false;
    end = std::max(end, to);
  }
  return end >= size;
}

void SpanChecker::Straddler::Fill(uint64_t begin, ByteSpan piece) {
  std::memcpy(bytes.data() + begin, piece.data(), piece.size());
  uint64_t& end = known[begin];
  end = std::max(end, begin + piece.size());
}

SpanChecker::SpanChecker(std::shared_ptr<const LayerTable> table, ReadHeaderBytes read_header_bytes)
    : table_(std::move(table)),
      read_header_bytes_(std::move(read_header_bytes)),
      end_block_(BlockAfterTheLastMember(*table_)) {}

Status SpanChecker::CheckWindow(SpanId span, ByteSpan decoded) const {
  const SpanId next = Next(span);
  if (table_->compression() != Compression::kGzip || ToIndex(next) >= table_->span_count()) return OkStatus();
  Window claimed;
  SOCI_RETURN_IF_ERROR(table_->LoadWindow(next, claimed));
  const size_t own = std::min(decoded.size(), kWindowSize);
  bool same = std::memcmp(claimed.data() + (kWindowSize - own), decoded.data() + (decoded.size() - own), own) == 0;
  if (own < kWindowSize) {
    Window before;
    SOCI_RETURN_IF_ERROR(table_->LoadWindow(span, before));
    same = same && std::memcmp(claimed.data(), before.data() + own, kWindowSize - own) == 0;
  }
  if (same) return OkStatus();
  return absl::DataLossError(fmt::format("span {} does not decode to what the index has as the window of span {}",
                                         ToIndex(span), ToIndex(next)));
}

Status SpanChecker::CheckHeader(const MemberHeader& header, ByteSpan blocks) const {
  const Result<tar::Entry> entry = tar::ParseHeader(blocks, header.range.begin);
  if (entry.ok() && MemberFingerprint(*entry) == header.fingerprint) return OkStatus();
  return absl::DataLossError(fmt::format("the tar header at {} is not what the index says{}{}", header.range.begin,
                                         entry.ok() ? "" : ": ", entry.ok() ? "" : Message(entry.status())));
}

Status SpanChecker::CheckEnd(UncompressedRange range, ByteSpan decoded) const {
  const UncompressedRange own = end_block_.Intersect(range);
  const ByteSpan block = decoded.subspan(own.empty() ? 0 : own.begin - range.begin, own.size());
  if (std::all_of(block.begin(), block.end(), [](std::byte byte) { return byte == std::byte{0}; })) return OkStatus();
  return absl::DataLossError(fmt::format("the layer goes on at {}, where the index says that it ends", own.begin));
}

Status SpanChecker::CheckStraddler(uint64_t index, const MemberHeader& header, SpanId span, UncompressedRange range,
                                   ByteSpan decoded) {
  if (header.range.size() > kMaxHeaderSize) return absl::DataLossError("the index has a tar header without end");
  const auto offset_of = [&](const UncompressedRange& part) { return part.begin - header.range.begin; };
  const UncompressedRange own = header.range.Intersect(range);
  // What other spans have of it: on the disk from before, or left here by an earlier check.
  std::map<uint64_t, std::string> from_disk;
  for (SpanId other = table_->SpanAt(header.range.begin); ToIndex(other) < table_->span_count(); other = Next(other)) {
    const UncompressedRange part = header.range.Intersect(table_->Extent(other).uncompressed);
    if (part.empty()) break;
    if (other == span) continue;
    std::string bytes(part.size(), '\0');
    if (read_header_bytes_(other, part, std::as_writable_bytes(std::span(bytes)))) {
      from_disk[offset_of(part)] = std::move(bytes);
    }
  }
  std::string whole;
  {
    MutexLock lock(mutex_);
    Straddler& straddler = straddlers_[index];
    straddler.bytes.resize(header.range.size());
    straddler.Fill(offset_of(own), decoded.subspan(own.begin - range.begin, own.size()));
    for (const auto& [offset, bytes] : from_disk) straddler.Fill(offset, AsBytes(bytes));
    if (!straddler.IsWhole(header.range.size())) return OkStatus();
    whole = std::move(straddler.bytes);
    straddlers_.erase(index);
  }
  return CheckHeader(header, AsBytes(whole));
}

Status SpanChecker::Check(SpanId span, ByteSpan decoded) {
  const UncompressedRange range = table_->Extent(span).uncompressed;
  if (decoded.size() != range.size()) {
    return absl::DataLossError(
        fmt::format("span {} decoded to {} bytes instead of {}", ToIndex(span), decoded.size(), range.size()));
  }
  SOCI_RETURN_IF_ERROR(CheckWindow(span, decoded));
  SOCI_RETURN_IF_ERROR(CheckEnd(range, decoded));
  for (uint64_t i = table_->FirstHeaderEndingAfter(range.begin); i < table_->header_count(); ++i) {
    const MemberHeader header = table_->Header(i);
    if (header.range.begin >= range.end) break;
    if (range.Contains(header.range)) {
      SOCI_RETURN_IF_ERROR(CheckHeader(header, decoded.subspan(header.range.begin - range.begin, header.range.size())));
    } else {
      SOCI_RETURN_IF_ERROR(CheckStraddler(i, header, span, range, decoded));
    }
  }
  return OkStatus();
}

}  // namespace soci
