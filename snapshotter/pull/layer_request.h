// What a Prepare asks for, read from its labels: which layer of which image. Or the reason why we cannot know.
//
// CRI, nerdctl and our own pull write the same labels. Only three of them are needed; lists of neighbours may be cut
// off and sizes may be absent, because not every caller sends them. Pure.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "indexer/oci/reference.h"
#include "snapshotter/pull/layer_provider.h"

namespace soci {

struct LayerRequest {
  oci::Reference image;
  oci::Digest manifest;
  oci::LayerDigest layer;
  std::optional<oci::Digest> soci_index;  // named by the user: no search, and trusted as bound
};

// One line: the label that is missing or the value that makes no sense.
struct RequestRefused {
  std::string reason;
};

std::variant<LayerRequest, RequestRefused> ReadLayerRequest(const Labels& labels);

}  // namespace soci
