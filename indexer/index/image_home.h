// Where one image is, and where its index goes: a repository of a registry, an OCI layout directory or archive.
//
// Any thread. What is read whole is proven by its digest; layers are read as they are, and whoever reads one proves it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/byte_source.h"
#include "indexer/oci/descriptor.h"

namespace soci {

class ImageHome {
 public:
  virtual ~ImageHome() = default;

  // As the user wrote it, for messages.
  virtual std::string Name() const = 0;

  // What the reference stands for: a manifest, an image index, or several entries (an OCI layout's flat list of
  // platforms).
  virtual Result<std::vector<oci::Descriptor>> Resolve(const FetchContext& context) = 0;
  // The manifest of this digest, which only its name is known of.
  virtual Result<oci::Descriptor> ResolveDigest(const oci::Digest& digest, const FetchContext& context) = 0;

  // A small blob or document, at most `limit` bytes.
  virtual Result<std::string> Read(const oci::Descriptor& blob, uint64_t limit, const FetchContext& context) = 0;
  virtual Result<std::unique_ptr<ByteSource>> Open(const oci::Descriptor& blob) = 0;
  virtual Result<std::vector<oci::Descriptor>> FindReferrers(const oci::Digest& subject, std::string_view artifact_type,
                                                             const FetchContext& context) = 0;

  virtual Status PutBlob(const oci::Descriptor& blob, std::string bytes) = 0;
  // Stores a manifest about `subject` and lists it, so that FindReferrers gives it back.
  // kUnimplemented: the home takes no such manifest.
  virtual Status PutReferrer(const oci::Descriptor& manifest, std::string_view json, const oci::Digest& subject) = 0;
  // Gives a manifest that is here the name `tag`, in place of what had it.
  virtual Status Tag(const oci::Descriptor& manifest, std::string_view json, const std::string& tag) = 0;
  // Called once when all is put: an archive is written anew then, and not before.
  virtual Status Commit() = 0;
};

}  // namespace soci
