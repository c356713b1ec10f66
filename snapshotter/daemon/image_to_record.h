// The image that `soci-snapshotter record` is about: as containerd has it, or pulled.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "indexer/base/result.h"
#include "indexer/oci/manifest.h"
#include "indexer/oci/reference.h"

namespace soci {

struct RecordOptions;

struct ImageToRecord {
  std::string name;    // containerd's
  oci::Digest digest;  // of its manifest, on this machine's platform
  oci::Manifest manifest;
};

// Asks no registry if containerd has the image and our snapshotter all of its layers; pulls it otherwise.
Result<ImageToRecord> FindImageToRecord(const RecordOptions& options, const oci::Reference& image,
                                        const std::stop_token& stop);

// What tells our snapshotter that a container's snapshot belongs to the recording, as ctr takes it.
std::string RecordingLabel(std::string_view recording);

}  // namespace soci
