// What `docker save` writes, read as the OCI layout that newer Docker versions put into the same file.
//
// The manifest is the one that containerd makes of such an archive when it imports it, so that an index made here is
// found there. On Commit layers and config move to the names that they have in a layout, and manifest.json names them
// there: `docker load` and `ctr image import` read the result as before. Layers are not read here, unless one is
// compressed and its name does not tell its digest.
#pragma once

#include <memory>
#include <string>

#include "indexer/content/oci_archive.h"

namespace soci {

// An archive that holds an OCI layout as well is opened as one. Errors as OciArchive::Open.
Result<std::unique_ptr<OciArchive>> OpenDockerArchive(const std::string& path, const std::string& output = {});

}  // namespace soci
