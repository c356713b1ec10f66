#include "indexer/index/index_builder.h"

#include "indexer/oci/annotations.h"

namespace soci {
namespace {

oci::Descriptor ZtocDescriptor(const LayerArtifact& ztoc, uint64_t span_size) {
  oci::Descriptor descriptor{
      .media_type = std::string(oci::kMediaTypeZtoc), .digest = ztoc.artifact.digest, .size = ztoc.artifact.size};
  descriptor.annotations = {{std::string(oci::kAnnotationLayerDigest), ztoc.layer.digest.ToString()},
                            {std::string(oci::kAnnotationLayerMediaType), ztoc.layer.media_type},
                            {std::string(oci::kAnnotationSpanSize), std::to_string(span_size)}};
  if (ztoc.disable_xattrs) descriptor.annotations[std::string(oci::kAnnotationDisableXattrs)] = "true";
  return descriptor;
}

oci::Descriptor PrefetchDescriptor(const LayerArtifact& prefetch) {
  oci::Descriptor descriptor{.media_type = std::string(oci::kMediaTypePrefetch),
                             .digest = prefetch.artifact.digest,
                             .size = prefetch.artifact.size};
  descriptor.annotations = {{std::string(oci::kAnnotationLayerDigest), prefetch.layer.digest.ToString()}};
  return descriptor;
}

oci::Manifest MakeIndex(const IndexContents& contents, std::string_view type) {
  oci::Manifest index{.media_type = std::string(oci::kMediaTypeManifest)};
  index.config = {.media_type = std::string(type),
                  .digest = oci::Digest::Of(oci::kEmptyConfig),
                  .size = int64_t{oci::kEmptyConfig.size()}};
  for (const LayerArtifact& ztoc : contents.ztocs) index.layers.push_back(ZtocDescriptor(ztoc, contents.span_size));
  for (const LayerArtifact& prefetch : contents.prefetch) index.layers.push_back(PrefetchDescriptor(prefetch));
  index.annotations = {{std::string(oci::kAnnotationBuildTool), contents.build_tool}};
  return index;
}

}  // namespace

oci::Manifest MakeSociIndexV1(const IndexContents& contents, const oci::Descriptor& subject) {
  oci::Manifest index = MakeIndex(contents, oci::kMediaTypeSociIndexV1);
  index.subject = oci::Descriptor{.media_type = subject.media_type, .digest = subject.digest, .size = subject.size};
  return index;
}

oci::Manifest MakeSociIndexV2(const IndexContents& contents) { return MakeIndex(contents, oci::kMediaTypeSociIndexV2); }

oci::Descriptor ReferrerDescriptor(const oci::Manifest& manifest, std::string_view json) {
  oci::Descriptor descriptor{
      .media_type = manifest.media_type, .digest = oci::Digest::Of(json), .size = static_cast<int64_t>(json.size())};
  descriptor.annotations = manifest.annotations;
  descriptor.artifact_type = manifest.artifact_type.empty() ? manifest.config.media_type : manifest.artifact_type;
  return descriptor;
}

}  // namespace soci
