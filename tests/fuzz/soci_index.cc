// A SOCI index from a registry: any text is either refused or an index that can be asked for each of its layers.
#include "indexer/index/soci_index.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "indexer/index/layer_choice.h"
#include "indexer/oci/annotations.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto manifest = soci::ParseSociIndex(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!manifest.ok()) return 0;
  const soci::SociIndex index{.digest = {}, .manifest = *manifest};
  for (const soci::oci::Descriptor& artifact : manifest->layers) {
    (void)soci::ChooseLayer(artifact, 1000);
    const auto annotation = artifact.annotations.find(std::string(soci::oci::kAnnotationLayerDigest));
    if (annotation == artifact.annotations.end()) continue;
    const auto layer = soci::oci::LayerDigest::Parse(annotation->second);
    if (!layer.ok()) continue;
    const soci::oci::Descriptor* ztoc = index.ZtocFor(*layer);
    if (artifact.media_type == soci::oci::kMediaTypeZtoc && ztoc == nullptr) std::abort();
  }
  return 0;
}
