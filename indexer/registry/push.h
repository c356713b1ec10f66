// Uploads blobs and manifests: what exists is not sent again, what breaks goes on or starts anew.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "indexer/oci/descriptor.h"
#include "indexer/oci/reference.h"
#include "indexer/registry/registry_client.h"
#include "indexer/registry/registry_core.h"

namespace soci {

// See RegistryClient. Both block. `condition`: headers that make the registry compare first.
Status PushBlobTo(const std::shared_ptr<RegistryCore>& core, const oci::Reference& repository,
                  const oci::Descriptor& blob, std::string_view bytes);
Result<PushedManifest> PushManifestTo(const std::shared_ptr<RegistryCore>& core, const oci::Reference& repository,
                                      const std::string& name, std::string_view media_type, std::string_view body,
                                      HttpHeaders condition);

}  // namespace soci
