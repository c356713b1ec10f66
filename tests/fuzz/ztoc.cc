// The zTOC reader: any bytes are refused or give a zTOC in order, which is written and read back the same.
#include "indexer/ztoc/ztoc.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/ztoc/ztoc_value.h"

namespace {

void Require(bool condition) {
  if (!condition) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto ztoc = soci::test::DecodeZtoc({reinterpret_cast<const char*>(data), size});
  if (!ztoc.ok()) return 0;
  const auto spans = ztoc->Spans();
  Require(spans.size() == ztoc->span_digests.size());
  uint64_t end = 0;
  for (const soci::SpanExtent& span : spans) {
    Require(span.uncompressed.begin == end && span.uncompressed.end >= end);
    Require(span.compressed.end > span.compressed.begin && span.compressed.end <= ztoc->compressed_size);
    end = span.uncompressed.end;
  }
  uint64_t next = 0;
  for (const soci::tar::Entry& entry : ztoc->entries) {
    Require(entry.header.begin >= next && entry.header.size() >= 512 && entry.content.begin == entry.header.end);
    Require(entry.content.end <= ztoc->uncompressed_size);
    next = entry.content.end;
  }
  const auto bytes = soci::test::EncodeZtoc(*ztoc);
  Require(bytes.ok());
  const auto again = soci::test::DecodeZtoc(*bytes);
  Require(again.ok() && again->entries.size() == ztoc->entries.size() && again->checkpoints == ztoc->checkpoints);
  return 0;
}
