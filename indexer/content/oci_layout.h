// An OCI layout directory as a content store: blobs/sha256/<hex>, and index.json for what is named or listed.
//
// Writes are two-step, and blobs come before the entry that lists them: a layout is never seen half-written. Entries
// and members of index.json that are not ours stay as they are. Any thread; processes that change one layout wait for
// each other.
#pragma once

#include <string>
#include <vector>

#include "indexer/content/content_store.h"
#include "indexer/oci/manifest.h"

namespace soci {

class OciLayout : public ContentStore {
 public:
  // kNotFound if the directory is not there, kInvalidArgument if it is no OCI layout.
  static Result<std::unique_ptr<OciLayout>> Open(const std::string& directory);
  // As Open, but makes an empty layout where there is none.
  static Result<std::unique_ptr<OciLayout>> OpenOrCreate(const std::string& directory);

  // Every image that `name` stands for; an empty name stands for all. Several entries with one name, or without any,
  // are a list of platforms that was written flat. Artifacts (SOCI indexes, attestations) are no images.
  Result<std::vector<oci::Descriptor>> FindImages(const std::string& name);

  Result<std::unique_ptr<ByteSource>> Open(const oci::Digest& digest) override;
  Status Put(const oci::Descriptor& blob, std::string_view bytes) override;
  Result<std::optional<oci::Descriptor>> Resolve(const std::string& name) override;
  Result<std::vector<oci::Descriptor>> FindReferrers(const oci::Digest& subject,
                                                     std::string_view artifact_type) override;
  Status List(const oci::Descriptor& manifest) override;

 private:
  explicit OciLayout(std::string directory) : directory_(std::move(directory)) {}

  std::string BlobPath(const oci::Digest& digest) const;
  std::string IndexPath() const { return directory_ + "/index.json"; }
  Result<oci::ImageIndex> ReadIndex() const;

  const std::string directory_;
};

}  // namespace soci
