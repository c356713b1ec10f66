// An image reference, a platform, a digest: any text is either refused or has a canonical form that is read back as
// itself.
#include "indexer/oci/reference.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "indexer/oci/platform.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto reference = soci::oci::Reference::Parse(text); reference.ok()) {
    const auto again = soci::oci::Reference::Parse(reference->ToString());
    if (!again.ok() || *again != *reference) std::abort();
    if (reference->repository.find("..") != std::string::npos) std::abort();
  }
  if (const auto platform = soci::oci::ParsePlatform(text); platform.ok()) {
    const auto again = soci::oci::ParsePlatform(platform->ToString());
    if (!again.ok() || !soci::oci::Matches(*platform, *again)) std::abort();
  }
  if (const auto digest = soci::oci::Digest::Parse(text); digest.ok() && digest->ToString() != text) std::abort();
  return 0;
}
