// The layer table's reader: any bytes are either refused or a table that answers everything. (Checksums are not
// compared in this build, or nothing but them would be tested.)
#include <cstdint>
#include <cstring>
#include <string>

#include "indexer/table/table_format.h"
#include "tests/fuzz/walk_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size < sizeof(soci::table::FileHeader)) return 0;
  soci::table::FileHeader header;
  std::memcpy(&header, data, sizeof header);
  // What the fuzzer would find only by luck.
  header.magic = soci::table::kMagic;
  header.format_version = soci::table::kFormatVersion;
  header.layout = soci::LayerTable::kLayout;
  header.file_size = size;
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto table = soci::LayerTable::FromBytes(bytes, soci::oci::LayerDigest(soci::oci::Digest(header.layer)));
  if (table.ok()) soci::fuzz::WalkTable(**table);
  return 0;
}
