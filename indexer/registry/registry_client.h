// Speaks the OCI distribution protocol with one registry host list on behalf of one repository at a time.
//
// One client serves index creation, discovery, demand reads, fill, pull and push; it keeps tokens and redirect targets.
// Any thread. Errors: kNotFound, kUnauthenticated or kPermissionDenied (wrong credentials), kUnavailable (network,
// after retries), kDataLoss (bytes do not match their digest).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/byte_source.h"
#include "indexer/oci/descriptor.h"
#include "indexer/oci/reference.h"

namespace soci {

// A manifest or image index as received; `digest` is verified against the bytes.
struct FetchedDocument {
  std::string media_type;
  oci::Digest digest;
  std::string body;
  std::string etag = {};  // as the registry gave it; often none
};

struct PushedManifest {
  bool subject_accepted = false;  // the registry answered with OCI-Subject: it lists the referrer by itself
};

class RegistryClient {
 public:
  virtual ~RegistryClient() = default;

  // `name` is a tag or a digest. Bodies beyond 8 MiB are refused.
  virtual Result<FetchedDocument> FetchManifest(const oci::Reference& repository, const std::string& name,
                                                const FetchContext& context) = 0;

  // A whole small blob, checked against its descriptor's digest and size.
  virtual Result<std::string> FetchBlob(const oci::Reference& repository, const oci::Descriptor& blob,
                                        const FetchContext& context) = 0;

  // A blob as random-access bytes. Nothing is fetched yet. The source keeps what it needs of the client alive.
  virtual Result<std::unique_ptr<ByteSource>> OpenBlob(const oci::Reference& repository,
                                                       const oci::Descriptor& blob) = 0;

  // Manifests whose subject is `subject`, with this artifact type: by the referrers API, else by the tag. Both missing
  // is an empty list.
  virtual Result<std::vector<oci::Descriptor>> FindReferrers(const oci::Reference& repository,
                                                             const oci::Digest& subject, std::string_view artifact_type,
                                                             const FetchContext& context) = 0;

  // Uploads unless it exists.
  virtual Status PushBlob(const oci::Reference& repository, const oci::Descriptor& blob, std::string_view bytes) = 0;
  virtual Result<PushedManifest> PushManifest(const oci::Reference& repository, const std::string& name,
                                              std::string_view media_type, std::string_view body) = 0;
  // As PushManifest, but over `before` only (null: over nothing): kAborted if the registry knows better. Most
  // registries do not compare; look again afterwards.
  virtual Result<PushedManifest> ReplaceManifest(const oci::Reference& repository, const std::string& name,
                                                 std::string_view media_type, std::string_view body,
                                                 const FetchedDocument* before) {
    static_cast<void>(before);
    return PushManifest(repository, name, media_type, body);
  }
};

}  // namespace soci
