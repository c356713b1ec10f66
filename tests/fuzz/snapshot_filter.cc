// containerd's filter language: any text is either refused or a filter that can be asked.
#include <cstdint>
#include <string>

#include "snapshotter/metastore/filter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto filter = soci::SnapshotFilter::Parse({text});
  if (!filter.ok()) return 0;
  soci::Snapshot snapshot;
  snapshot.name = "default/1/sha256:aa";
  snapshot.labels = {{"containerd.io/snapshot.ref", "sha256:bb"}, {"a.b", text}};
  (void)filter->Matches(snapshot);
  return 0;
}
