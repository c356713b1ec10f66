// What the user names on the command line: an image in a registry or in an OCI layout directory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "indexer/oci/reference.h"

namespace soci::cli {

struct Target {
  std::string text;                        // as written
  std::string directory;                   // of an OCI layout; empty: a registry
  std::string tag;                         // in the layout; empty: its only image
  oci::Reference reference = {};           // in a registry
  std::optional<oci::Digest> digest = {};  // after "@"

  bool IsLayout() const { return !directory.empty(); }
};

// "oci:DIR[:TAG][@DIGEST]" or "HOST/REPO[:TAG][@DIGEST]". DIR is the longest directory that is there, so that both DIR
// and TAG may hold colons.
Result<Target> ParseTarget(std::string_view text);

}  // namespace soci::cli
