// An OCI layout directory as a content store: blobs/sha256/<hex>, and index.json for what is named or listed.
//
// Writes are two-step, and blobs come before the entry that lists them: a layout is never seen half-written. Entries
// and members of index.json that are not ours stay as they are. Any thread; processes that change one layout wait for
// each other.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "indexer/content/oci_store.h"

namespace soci {

class OciLayout : public OciStore {
 public:
  // kNotFound if the directory is not there, kInvalidArgument if it is no OCI layout.
  static Result<std::unique_ptr<OciLayout>> Open(const std::string& directory);
  // As Open, but makes an empty layout where there is none.
  static Result<std::unique_ptr<OciLayout>> OpenOrCreate(const std::string& directory);

  Result<std::unique_ptr<ByteSource>> Open(const oci::Digest& digest) override;
  Status Put(const oci::Descriptor& blob, std::string bytes) override;
  Status List(const oci::Descriptor& manifest) override;
  Status Commit() override { return OkStatus(); }

 protected:
  std::string Where() const override { return directory_; }
  Result<std::string> ReadIndexJson() const override;

 private:
  explicit OciLayout(std::string directory) : directory_(std::move(directory)) {}

  std::string BlobPath(const oci::Digest& digest) const;
  std::string IndexPath() const { return directory_ + "/index.json"; }

  const std::string directory_;
};

}  // namespace soci
