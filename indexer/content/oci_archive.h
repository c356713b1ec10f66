// An OCI layout in a tar file, as `docker save`, `docker buildx`, skopeo and ctr write it.
//
// Blobs are read in place. What is put and listed is held in memory until Commit writes a new archive beside the place
// where it belongs and renames it there: the old members as they were, the new blobs, the new index.json. The archive
// that was opened is either replaced as a whole or not touched. Any thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "indexer/base/mutex.h"
#include "indexer/content/oci_store.h"
#include "indexer/content/tar_members.h"

namespace soci {

// How the archive that is written differs from the one that was read, but for new blobs and index.json.
struct ArchiveEdits {
  std::map<std::string, std::string> renamed = {};   // files: old name -> new name
  std::map<std::string, std::string> replaced = {};  // files: name -> new content
  std::set<std::string> dropped = {};
};

class OciArchive : public OciStore {
 public:
  // The archive is written to `output`; empty: in its own place. kNotFound if there is no such file, kInvalidArgument
  // if it is no tar with an OCI layout in it.
  static Result<std::unique_ptr<OciArchive>> Open(const std::string& path, const std::string& output = {});

  // `members` know blobs by the names they have in a layout.
  OciArchive(std::string path, std::string output, TarMembers members, ArchiveEdits edits, std::string index_json);

  Result<std::unique_ptr<ByteSource>> Open(const oci::Digest& digest) override;
  Status Put(const oci::Descriptor& blob, std::string bytes) override;
  Status List(const oci::Descriptor& manifest) override;
  Status Commit() override;
  // A blob that goes into the archive with whatever else is written, and is no reason to write it.
  void Keep(const oci::Digest& digest, std::string bytes);

  static std::string BlobName(const oci::Digest& digest) { return "blobs/sha256/" + digest.Hex(); }

 protected:
  std::string Where() const override { return path_; }
  Result<std::string> ReadIndexJson() const override;

 private:
  Status WriteNew(int fd, const std::string& name) const SOCI_REQUIRES(mutex_);
  Status CopyOld(class ArchiveWriter& out) const SOCI_REQUIRES(mutex_);

  const std::string path_;
  const std::string output_;  // empty: path_
  const TarMembers members_;
  const ArchiveEdits edits_;

  mutable Mutex mutex_;  // a leaf
  std::map<oci::Digest, std::string> new_blobs_ SOCI_GUARDED_BY(mutex_);
  std::string index_json_ SOCI_GUARDED_BY(mutex_);
  bool changed_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
