// What an OCI layout is in any packing: blobs by digest, and an index.json for what is named or listed. The base of the
// directory and the archive.
//
// Blobs are put before the entry that lists them. Entries and members of index.json that are not ours stay as they are.
// Any thread.
#pragma once

#include <string>
#include <vector>

#include "indexer/content/content_store.h"
#include "indexer/oci/manifest.h"

namespace soci {

class OciStore : public ContentStore {
 public:
  // Every image that `name` stands for; an empty name stands for all. Several entries with one name, or without any,
  // are a list of platforms that was written flat. Artifacts (SOCI indexes, attestations) are no images.
  Result<std::vector<oci::Descriptor>> FindImages(const std::string& name);

  // Makes what was put and listed last. Until then an archive is as it was; a directory needs no commit.
  virtual Status Commit() = 0;

  Result<std::optional<oci::Descriptor>> Resolve(const std::string& name) final;
  Result<std::vector<oci::Descriptor>> FindReferrers(const oci::Digest& subject, std::string_view artifact_type) final;

 protected:
  // Its path, for messages.
  virtual std::string Where() const = 0;
  virtual Result<std::string> ReadIndexJson() const = 0;

  Result<oci::ImageIndex> ReadIndex() const;
};

}  // namespace soci
