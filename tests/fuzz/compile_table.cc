// The compiler of layer tables: what it accepts, the reader accepts too. Two ways in: a zTOC as it comes from a
// registry (first byte even), and one put together from members, checkpoints and sizes of the fuzzer's choice.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <string>

#include "indexer/table/table_compiler.h"
#include "indexer/ztoc/ztoc.h"
#include "tests/fuzz/walk_table.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci {
namespace {

std::string Name(FuzzedDataProvider& input) {
  static constexpr const char* kParts[] = {"a", "b", "/", "..", ".", ".wh.", ".wh..wh..opq", "c/", "//", "d"};
  std::string name;
  for (int i = input.ConsumeIntegralInRange(0, 5); i > 0; --i) name += input.PickValueInArray(kParts);
  return input.ConsumeBool() ? name + input.ConsumeRandomLengthString(8) : name;
}

test::Ztoc PutTogether(FuzzedDataProvider& input) {
  test::Ztoc ztoc;
  ztoc.compression = input.ConsumeBool() ? Compression::kGzip : Compression::kUncompressed;
  ztoc.compressed_size = input.ConsumeIntegralInRange<uint64_t>(0, 1 << 20);
  ztoc.uncompressed_size = input.ConsumeIntegralInRange<uint64_t>(0, 1 << 24);
  ztoc.span_size = input.ConsumeIntegralInRange<uint64_t>(0, 1 << 20);
  for (int i = input.ConsumeIntegralInRange(0, 6); i > 0; --i) {
    ztoc.checkpoints.push_back({input.ConsumeIntegralInRange<uint64_t>(0, 1 << 20),
                                input.ConsumeIntegralInRange<uint64_t>(0, 1 << 24),
                                input.ConsumeIntegralInRange<uint8_t>(0, 8)});
    ztoc.windows.emplace_back();
    ztoc.span_digests.emplace_back();
  }
  uint64_t at = 0;
  while (input.remaining_bytes() > 4) {
    tar::Entry entry;
    entry.name = Name(input);
    entry.link_name = Name(input);
    entry.type = static_cast<tar::EntryType>(input.ConsumeIntegralInRange(0, 6));
    entry.mode = input.ConsumeIntegral<int64_t>();
    entry.mtime_seconds = input.ConsumeIntegral<int64_t>();
    entry.header = {at, at + input.ConsumeIntegralInRange<uint64_t>(500, 2048)};
    const bool has_data = entry.type == tar::EntryType::kRegular;
    entry.size = has_data ? input.ConsumeIntegralInRange(0, 4096) : 0;
    entry.content = {entry.header.end, entry.header.end + static_cast<uint64_t>(entry.size)};
    if (input.ConsumeBool()) entry.pax["SCHILY.xattr.user." + Name(input)] = Name(input);
    at = entry.content.end - input.ConsumeIntegralInRange<uint64_t>(0, 1);
    ztoc.entries.push_back(std::move(entry));
  }
  return ztoc;
}

}  // namespace
}  // namespace soci

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  FuzzedDataProvider input(data + 1, size - 1);
  soci::test::Ztoc ztoc;
  if (data[0] % 2 == 0) {
    auto decoded = soci::test::DecodeZtoc({reinterpret_cast<const char*>(data + 1), size - 1});
    if (!decoded.ok()) return 0;
    ztoc = *std::move(decoded);
  } else {
    ztoc = soci::PutTogether(input);
  }
  const soci::oci::LayerDigest layer(soci::oci::Digest::Of("layer"));
  const auto bytes = soci::CompileTable(ztoc, layer);
  if (!bytes.ok()) return 0;
  const auto table = soci::LayerTable::FromBytes(*bytes, layer);
  soci::fuzz::Expect(table.ok());
  soci::fuzz::WalkTable(**table);
  return 0;
}
