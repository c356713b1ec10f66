// What the user names on the command line: an image in a registry, in an OCI layout directory, or in an archive.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "indexer/oci/reference.h"

namespace soci::cli {

struct Target {
  enum class Kind { kRegistry, kLayout, kOciArchive, kDockerArchive };
  bool IsArchive() const { return kind == Kind::kOciArchive || kind == Kind::kDockerArchive; }

  std::string text;  // as written
  Kind kind = Kind::kRegistry;
  std::string path = {};                   // of a layout or archive
  std::string tag = {};                    // in it; empty: its only image
  oci::Reference reference = {};           // in a registry
  std::optional<oci::Digest> digest = {};  // after "@"
};

// "oci:DIR[:TAG][@DIGEST]", "oci-archive:FILE[:TAG][@DIGEST]", "docker-archive:FILE[:TAG][@DIGEST]" or
// "HOST/REPO[:TAG][@DIGEST]". DIR or FILE is the longest path that is there, so that both path and TAG may hold colons.
Result<Target> ParseTarget(std::string_view text);

}  // namespace soci::cli
