// The three JSON documents of an image: manifest, image index, image config. Parsing refuses what is malformed with
// kInvalidArgument naming the member; writing gives the one canonical form (the reference tools' compact JSON: fixed
// member order, sorted annotations, no white space), which decides digests. See docs/formats.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/oci/descriptor.h"

namespace soci::oci {

// Longer documents are refused.
inline constexpr size_t kMaxDocumentBytes = size_t{8} << 20;

struct Manifest {
  std::string media_type = {};
  std::string artifact_type = {};
  Descriptor config = {};
  std::vector<Descriptor> layers = {};
  std::optional<Descriptor> subject = {};
  Annotations annotations = {};

  static Result<Manifest> Parse(std::string_view json);
  std::string ToJson() const;
};

struct ImageIndex {
  std::string media_type = {};
  std::string artifact_type = {};
  std::vector<Descriptor> manifests = {};
  std::optional<Descriptor> subject = {};
  Annotations annotations = {};

  static Result<ImageIndex> Parse(std::string_view json);
  std::string ToJson() const;
};

struct ImageConfig {
  Platform platform = {};
  std::vector<DiffId> diff_ids = {};

  static Result<ImageConfig> Parse(std::string_view json);
};

// The media type a document says of itself, else the OCI type that its members make it ("" if they do not): tells a
// manifest from an image index where a registry's Content-Type is missing or wrong.
Result<std::string> DocumentMediaType(std::string_view json);

}  // namespace soci::oci
