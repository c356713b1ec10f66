// An image in a registry; see ImageHome. The index goes into the image's own repository.
#pragma once

#include <memory>

#include "indexer/index/image_home.h"
#include "indexer/oci/reference.h"

namespace soci {

class RegistryClient;

// `registry` outlives the home.
std::unique_ptr<ImageHome> MakeRegistryHome(RegistryClient& registry, oci::Reference reference);

}  // namespace soci
