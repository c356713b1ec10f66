#include "snapshotter/daemon/layout_registry.h"

#include <fmt/format.h>

#include "indexer/content/read_blob.h"
#include "indexer/oci/manifest.h"

namespace soci {
namespace {

constexpr uint64_t kLargestBlob = uint64_t{1} << 30;  // a zTOC

Status ReadOnly() { return absl::UnimplementedError("the layout is only read here"); }

}  // namespace

Result<FetchedDocument> LayoutRegistry::FetchManifest(const oci::Reference&, const std::string& name,
                                                      const FetchContext&) {
  FetchedDocument document;
  auto digest = oci::Digest::Parse(name);
  if (digest.ok()) {
    document.digest = *digest;
  } else {
    SOCI_ASSIGN_OR_RETURN(auto named, layout_.Resolve(name));
    if (!named) return absl::NotFoundError(fmt::format("the layout has no image called {}", name));
    document.digest = named->digest;
  }
  SOCI_ASSIGN_OR_RETURN(auto source, layout_.Open(document.digest));
  oci::Descriptor descriptor;
  descriptor.digest = document.digest;
  descriptor.size = static_cast<int64_t>(source->size());
  SOCI_ASSIGN_OR_RETURN(document.body, ReadBlob(layout_, descriptor));
  SOCI_ASSIGN_OR_RETURN(document.media_type, oci::DocumentMediaType(document.body));
  return document;
}

Result<std::string> LayoutRegistry::FetchBlob(const oci::Reference&, const oci::Descriptor& blob, const FetchContext&) {
  return ReadBlob(layout_, blob, kLargestBlob);
}

Result<std::unique_ptr<ByteSource>> LayoutRegistry::OpenBlob(const oci::Reference&, const oci::Descriptor& blob) {
  return layout_.Open(blob.digest);
}

Result<std::vector<oci::Descriptor>> LayoutRegistry::FindReferrers(const oci::Reference&, const oci::Digest& subject,
                                                                   std::string_view artifact_type,
                                                                   const FetchContext&) {
  return layout_.FindReferrers(subject, artifact_type);
}

Status LayoutRegistry::PushBlob(const oci::Reference&, const oci::Descriptor&, std::string_view) { return ReadOnly(); }

Result<PushedManifest> LayoutRegistry::PushManifest(const oci::Reference&, const std::string&, std::string_view,
                                                    std::string_view) {
  return ReadOnly();
}

}  // namespace soci
