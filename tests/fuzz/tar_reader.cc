// The tar reader: the same members whatever the portions, and each header parsed alone gives the same entry.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "indexer/tar/reader.h"

namespace {

struct Outcome {
  std::vector<soci::tar::Entry> entries;
  soci::Status status;
  uint64_t position = 0;
};

Outcome Read(std::string_view tar, size_t portion) {
  Outcome outcome;
  soci::tar::Reader reader([&outcome](const soci::tar::Entry& entry) {
    outcome.entries.push_back(entry);
    return soci::OkStatus();
  });
  for (size_t at = 0; at < tar.size() && outcome.status.ok(); at += portion) {
    outcome.status = reader.Push(soci::AsBytes(tar.substr(at, portion)));
  }
  if (outcome.status.ok()) outcome.status = reader.Finish();
  outcome.position = reader.position();
  return outcome;
}

// The checksum of every block that looks like a header is made right, or mutations would only ever find it wrong.
std::string WithChecksums(std::string tar) {
  for (size_t at = 0; at + 512 <= tar.size(); at += 512) {
    if (tar.compare(at + 257, 5, "ustar") != 0) continue;
    tar.replace(at + 148, 8, "        ");
    unsigned sum = 0;
    for (size_t i = 0; i < 512; ++i) sum += static_cast<uint8_t>(tar[at + i]);
    for (size_t i = 6; i-- > 0; sum /= 8) tar[at + 148 + i] = static_cast<char>('0' + sum % 8);
    tar[at + 154] = '\0';
  }
  return tar;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string tar = WithChecksums({reinterpret_cast<const char*>(data), size});
  const Outcome whole = Read(tar, tar.size() + 1);
  const Outcome parts = Read(tar, 1 + (size > 0 ? data[0] : 0));
  if (whole.status != parts.status || whole.entries != parts.entries) abort();
  if (whole.status.ok() && whole.position != parts.position) abort();
  for (const soci::tar::Entry& entry : whole.entries) {
    const auto parsed =
        soci::tar::ParseHeader(soci::AsBytes(tar).subspan(entry.header.begin, entry.header.size()), entry.header.begin);
    if (!parsed.ok() || *parsed != entry) abort();
  }
  return 0;
}
