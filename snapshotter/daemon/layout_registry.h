// An OCI layout directory that answers like a registry with one repository: what lets a layer be mounted from a
// directory by the same steps as from a registry. Read only. Any thread.
#pragma once

#include "indexer/content/content_store.h"
#include "indexer/registry/registry_client.h"

namespace soci {

class LayoutRegistry : public RegistryClient {
 public:
  // Borrows the layout. Every reference means it, whatever its host and repository.
  explicit LayoutRegistry(ContentStore& layout) : layout_(layout) {}

  Result<FetchedDocument> FetchManifest(const oci::Reference& repository, const std::string& name,
                                        const FetchContext& context) override;
  Result<std::string> FetchBlob(const oci::Reference& repository, const oci::Descriptor& blob,
                                const FetchContext& context) override;
  Result<std::unique_ptr<ByteSource>> OpenBlob(const oci::Reference& repository, const oci::Descriptor& blob) override;
  Result<std::vector<oci::Descriptor>> FindReferrers(const oci::Reference& repository, const oci::Digest& subject,
                                                     std::string_view artifact_type,
                                                     const FetchContext& context) override;
  Status PushBlob(const oci::Reference& repository, const oci::Descriptor& blob, std::string_view bytes) override;
  Result<PushedManifest> PushManifest(const oci::Reference& repository, const std::string& name,
                                      std::string_view media_type, std::string_view body) override;

 private:
  ContentStore& layout_;
};

}  // namespace soci
