// Finds the manifests that are about another one, in whatever way this registry offers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/oci/descriptor.h"
#include "indexer/oci/reference.h"
#include "indexer/registry/registry_core.h"

namespace soci {

// See RegistryClient::FindReferrers. Blocks.
Result<std::vector<oci::Descriptor>> FindReferrersOf(const std::shared_ptr<RegistryCore>& core,
                                                     const oci::Reference& repository, const oci::Digest& subject,
                                                     std::string_view artifact_type, const FetchContext& context);

// How questions about this repository start in RegistryCore::negative.
std::string NegativePrefix(const oci::Reference& repository);

}  // namespace soci
