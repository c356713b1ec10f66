// A registry in memory behind the RegistryClient seam: manifests, blobs, tags, referrers. Any thread.
//
// Manifests are kept by repository; whoever pushes under a digest name gets that digest. With `referrers_api` off it
// behaves like a registry that knows the fallback tag only. `fail` is asked before each request ("GET manifests NAME"
// and so on); a status that is not ok becomes the answer. `requests` records what was asked.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "indexer/oci/manifest.h"
#include "indexer/registry/registry_client.h"

namespace soci {

class FakeRegistryClient : public RegistryClient {
 public:
  bool referrers_api = true;
  std::function<Status(const std::string&)> fail = {};

  Result<FetchedDocument> FetchManifest(const oci::Reference& repository, const std::string& name,
                                        const FetchContext&) override {
    SOCI_RETURN_IF_ERROR(Note("GET manifests " + name));
    std::lock_guard lock(mutex_);
    auto& repo = repositories_[repository.repository];
    auto tag = repo.tags.find(name);
    auto found = repo.manifests.find(tag == repo.tags.end() ? name : tag->second);
    if (found == repo.manifests.end()) return absl::NotFoundError(fmt::format("manifest {} is not there", name));
    return found->second;
  }

  Result<std::string> FetchBlob(const oci::Reference& repository, const oci::Descriptor& blob,
                                const FetchContext&) override {
    SOCI_RETURN_IF_ERROR(Note("GET blobs " + blob.digest.ToString()));
    return Blob(repository, blob.digest);
  }

  Result<std::unique_ptr<ByteSource>> OpenBlob(const oci::Reference& repository, const oci::Descriptor& blob) override {
    SOCI_RETURN_IF_ERROR(Note("OPEN blobs " + blob.digest.ToString()));
    SOCI_ASSIGN_OR_RETURN(std::string bytes, Blob(repository, blob.digest));
    return MakeMemorySource(std::move(bytes));
  }

  Result<std::vector<oci::Descriptor>> FindReferrers(const oci::Reference& repository, const oci::Digest& subject,
                                                     std::string_view artifact_type, const FetchContext&) override {
    SOCI_RETURN_IF_ERROR(Note("GET referrers " + subject.ToString()));
    std::lock_guard lock(mutex_);
    auto& repo = repositories_[repository.repository];
    std::vector<oci::Descriptor> all = repo.referrers[subject.ToString()];
    if (!referrers_api) {
      all.clear();
      auto tag = repo.tags.find("sha256-" + subject.Hex());
      if (tag != repo.tags.end()) all = oci::ImageIndex::Parse(repo.manifests[tag->second].body).value().manifests;
    }
    std::erase_if(all, [&](const oci::Descriptor& one) { return one.artifact_type != artifact_type; });
    return all;
  }

  Status PushBlob(const oci::Reference& repository, const oci::Descriptor& blob, std::string_view bytes) override {
    SOCI_RETURN_IF_ERROR(Note("PUT blobs " + blob.digest.ToString()));
    std::lock_guard lock(mutex_);
    repositories_[repository.repository].blobs[blob.digest.ToString()] = std::string(bytes);
    return OkStatus();
  }

  Result<PushedManifest> PushManifest(const oci::Reference& repository, const std::string& name,
                                      std::string_view media_type, std::string_view body) override {
    SOCI_RETURN_IF_ERROR(Note("PUT manifests " + name));
    std::lock_guard lock(mutex_);
    auto& repo = repositories_[repository.repository];
    const oci::Digest digest = oci::Digest::Of(body);
    repo.manifests[digest.ToString()] = {std::string(media_type), digest, std::string(body)};
    if (name != digest.ToString()) repo.tags[name] = digest.ToString();
    Result<oci::Manifest> manifest = oci::Manifest::Parse(body);
    if (!referrers_api || !manifest.ok() || !manifest->subject) return PushedManifest{};
    oci::Descriptor entry{.media_type = std::string(media_type), .digest = digest, .size = int64_t(body.size())};
    entry.artifact_type = manifest->artifact_type.empty() ? manifest->config.media_type : manifest->artifact_type;
    entry.annotations = manifest->annotations;
    std::erase_if(repo.referrers[manifest->subject->digest.ToString()],
                  [&](const oci::Descriptor& one) { return one.digest == digest; });
    repo.referrers[manifest->subject->digest.ToString()].push_back(entry);
    return PushedManifest{.subject_accepted = true};
  }

  // What a test puts in by hand; returns the digest.
  oci::Digest AddManifest(const oci::Reference& repository, const std::string& name, std::string_view media_type,
                          std::string_view body) {
    auto saved = std::exchange(fail, {});
    if (!PushManifest(repository, name, media_type, body).ok()) std::abort();
    fail = std::move(saved);
    return oci::Digest::Of(body);
  }
  void AddReferrer(const oci::Reference& repository, const oci::Digest& subject, const oci::Descriptor& referrer) {
    std::lock_guard lock(mutex_);
    repositories_[repository.repository].referrers[subject.ToString()].push_back(referrer);
  }

  std::vector<std::string> requests() const {
    std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  struct Repository {
    std::map<std::string, FetchedDocument> manifests;
    std::map<std::string, std::string> tags;
    std::map<std::string, std::string> blobs;
    std::map<std::string, std::vector<oci::Descriptor>> referrers;
  };

  Status Note(const std::string& request) {
    {
      std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    return fail ? fail(request) : OkStatus();
  }

  Result<std::string> Blob(const oci::Reference& repository, const oci::Digest& digest) {
    std::lock_guard lock(mutex_);
    auto& blobs = repositories_[repository.repository].blobs;
    auto found = blobs.find(digest.ToString());
    if (found == blobs.end()) return absl::NotFoundError(fmt::format("blob {} is not there", digest.ToString()));
    return found->second;
  }

  mutable std::mutex mutex_;
  std::map<std::string, Repository> repositories_;
  std::vector<std::string> requests_;
};

}  // namespace soci
