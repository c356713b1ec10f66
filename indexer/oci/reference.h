// Where an image is: "host/repository:tag@digest", as docker and containerd read it. A value.
//
// A first part without dot, colon and "localhost" is no host: "ubuntu" is docker.io/library/ubuntu:latest.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "indexer/oci/digest.h"

namespace soci::oci {

struct Reference {
  std::string host;        // with port
  std::string repository;  // without host
  std::string tag;         // empty if only a digest was given
  std::optional<Digest> digest;

  static Result<Reference> Parse(std::string_view text);
  // The canonical form, as containerd names the image.
  std::string ToString() const;
  // What goes after /manifests/: the digest if there is one, else the tag.
  std::string ManifestName() const;

  bool operator==(const Reference&) const = default;
};

}  // namespace soci::oci
