// The documents of an image: any text is either refused or comes back from its canonical form as the same values.
#include "indexer/oci/manifest.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "indexer/oci/index_edit.h"
#include "indexer/oci/platform.h"

namespace {

template <typename Document>
void CheckRoundTrip(std::string_view text) {
  const auto document = Document::Parse(text);
  if (!document.ok()) return;
  const std::string canonical = document->ToJson();
  const auto again = Document::Parse(canonical);
  if (!again.ok() || again->ToJson() != canonical) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckRoundTrip<soci::oci::Manifest>(text);
  CheckRoundTrip<soci::oci::ImageIndex>(text);
  (void)soci::oci::ImageConfig::Parse(text);
  (void)soci::oci::DocumentMediaType(text);
  const auto index = soci::oci::ImageIndex::Parse(text);
  if (!index.ok()) return 0;
  (void)soci::oci::FindPlatform(*index, soci::oci::HostPlatform());
  (void)soci::oci::Platforms(*index);
  const soci::oci::Descriptor entry{.media_type = "a/b", .digest = soci::oci::Digest::Of("x"), .size = 1};
  const auto edited = soci::oci::WithEntry(text, entry);
  if (!edited.ok() || !soci::oci::ImageIndex::Parse(*edited).ok()) std::abort();
  if (soci::oci::WithEntry(*edited, entry).value() != *edited) std::abort();
  return 0;
}
