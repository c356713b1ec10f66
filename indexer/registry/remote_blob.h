// A blob in a registry as a ByteSource: every read is one ranged request that streams, resumed where it breaks.
//
// The redirect target is shared by all reads of the blob. Any thread but the network thread for ReadAt; any for
// StartRead.
#pragma once

#include <memory>

#include "indexer/base/byte_source.h"
#include "indexer/oci/descriptor.h"
#include "indexer/oci/reference.h"
#include "indexer/registry/registry_core.h"

namespace soci {

std::unique_ptr<ByteSource> MakeRemoteBlob(std::shared_ptr<RegistryCore> core, oci::Reference repository,
                                           oci::Descriptor blob);

}  // namespace soci
