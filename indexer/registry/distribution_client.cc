#include "indexer/registry/distribution_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "indexer/base/units.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/manifest.h"
#include "indexer/registry/collected_call.h"
#include "indexer/registry/push.h"
#include "indexer/registry/referrers.h"
#include "indexer/registry/registry_core.h"
#include "indexer/registry/registry_error.h"
#include "indexer/registry/remote_blob.h"

namespace soci {

RegistryCore::RegistryCore(HttpTransport& http, CredentialProvider& provider, RegistryClientOptions client_options)
    : transport(http),
      options(std::move(client_options)),
      clock(*options.clock),
      authorizer(std::make_shared<Authorizer>(http, provider, clock)),
      hosts_directory(options.hosts.directories),
      negative(clock, options.remember_negative),
      health(clock) {}

Result<std::vector<RegistryHost>> RegistryCore::HostsFor(const std::string& reference_host, HostCapability capability) {
  SOCI_ASSIGN_OR_RETURN(std::vector<RegistryHost> hosts, FindHosts(reference_host, options.hosts, &hosts_directory));
  std::erase_if(hosts, [capability](const RegistryHost& host) { return !host.Can(capability); });
  std::stable_partition(hosts.begin(), hosts.end(),
                        [this](const RegistryHost& host) { return !health.IsDown(host.base); });
  return hosts;
}

namespace {

constexpr size_t kManifestLimit = 8_MiB;
// A zTOC takes about 1 % of the layer's uncompressed size; beyond this it is no index but an attack.
constexpr int64_t kBlobLimit = int64_t{1} << 30;
// A proxy may serve a torn body once; three times is corruption.
constexpr int kDigestAttempts = 3;

std::string AcceptedManifests() {
  return fmt::format("{}, {}, {}, {}", oci::kMediaTypeManifest, oci::kMediaTypeImageIndex,
                     oci::kMediaTypeDockerManifest, oci::kMediaTypeDockerManifestList);
}

// Keeps a blob's bytes while they come.
class GatheringSink final : public ByteSink {
 public:
  Status OnBytes(ByteSpan bytes) override {
    text_ += AsText(bytes);
    return OkStatus();
  }
  void OnEnd(Status status) override {
    MutexLock lock(mutex_);
    status_ = std::move(status);
    ended_ = true;
    changed_.NotifyAll();
  }
  Result<std::string> Wait() {
    MutexLock lock(mutex_);
    while (!ended_) changed_.Wait(mutex_);
    if (!status_.ok()) return std::exchange(status_, OkStatus());
    return std::move(text_);
  }

 private:
  std::string text_;  // network thread until ended_
  Mutex mutex_;       // a leaf
  CondVar changed_;
  bool ended_ SOCI_GUARDED_BY(mutex_) = false;
  Status status_ SOCI_GUARDED_BY(mutex_);
};

class DistributionClient final : public RegistryClient {
 public:
  explicit DistributionClient(std::shared_ptr<RegistryCore> core) : core_(std::move(core)) {}

  Result<FetchedDocument> FetchManifest(const oci::Reference& repository, const std::string& name,
                                        const FetchContext& context) override {
    Status last;
    for (int attempt = 0; attempt < kDigestAttempts; ++attempt) {
      Result<FetchedDocument> document = FetchManifestOnce(repository, name, context);
      if (document.ok() || document.status().code() != absl::StatusCode::kDataLoss) return document;
      last = document.status();
    }
    return last;
  }

  Result<std::string> FetchBlob(const oci::Reference& repository, const oci::Descriptor& blob,
                                const FetchContext& context) override {
    std::string what =
        fmt::format("fetching blob {} of {}/{}", blob.digest.ToString(), repository.host, repository.repository);
    if (blob.size < 0 || blob.size > kBlobLimit) {
      return absl::ResourceExhaustedError(fmt::format("{}: its size of {} is beyond all reason", what, blob.size));
    }
    for (int attempt = 0; attempt < kDigestAttempts; ++attempt) {
      auto sink = std::make_shared<GatheringSink>();
      MakeRemoteBlob(core_, repository, blob)->StartRead(0, static_cast<uint64_t>(blob.size), context, sink);
      SOCI_ASSIGN_OR_RETURN(std::string bytes, sink->Wait());
      if (oci::Digest::Of(bytes) == blob.digest) return bytes;
    }
    return absl::DataLossError(fmt::format("{}: the bytes do not match the digest", what));
  }

  Result<std::unique_ptr<ByteSource>> OpenBlob(const oci::Reference& repository, const oci::Descriptor& blob) override {
    if (blob.size < 0)
      return absl::InvalidArgumentError(fmt::format("blob {}: a negative size", blob.digest.ToString()));
    return MakeRemoteBlob(core_, repository, blob);
  }

  Result<std::vector<oci::Descriptor>> FindReferrers(const oci::Reference& repository, const oci::Digest& subject,
                                                     std::string_view artifact_type,
                                                     const FetchContext& context) override {
    return FindReferrersOf(core_, repository, subject, artifact_type, context);
  }

  Status PushBlob(const oci::Reference& repository, const oci::Descriptor& blob, std::string_view bytes) override {
    return PushBlobTo(core_, repository, blob, bytes);
  }

  Result<PushedManifest> PushManifest(const oci::Reference& repository, const std::string& name,
                                      std::string_view media_type, std::string_view body) override {
    return PushManifestTo(core_, repository, name, media_type, body, {});
  }

  Result<PushedManifest> ReplaceManifest(const oci::Reference& repository, const std::string& name,
                                         std::string_view media_type, std::string_view body,
                                         const FetchedDocument* before) override {
    HttpHeaders condition;
    if (before == nullptr) condition.Add("If-None-Match", "*");
    if (before != nullptr && !before->etag.empty()) condition.Add("If-Match", before->etag);
    return PushManifestTo(core_, repository, name, media_type, body, std::move(condition));
  }

 private:
  Result<FetchedDocument> FetchManifestOnce(const oci::Reference& repository, const std::string& name,
                                            const FetchContext& context) {
    CallSpec spec;
    spec.repository = repository;
    spec.path = "manifests/" + name;
    spec.capability = HostCapability::kResolve;
    spec.what = fmt::format("fetching manifest {} of {}/{}", name, repository.host, repository.repository);
    std::string what = spec.what;
    CallContent content;
    content.headers.Add("Accept", AcceptedManifests());
    content.answer_limit = kManifestLimit;
    SOCI_ASSIGN_OR_RETURN(CallResult answer, CollectCall(core_, std::move(spec), std::move(content), context));

    FetchedDocument document;
    document.media_type = answer.head.headers.MediaType();
    if (document.media_type == "text/html") {
      return absl::FailedPreconditionError(what + ": the server answered with a web page");
    }
    document.digest = oci::Digest::Of(answer.body);
    Result<oci::Digest> wanted = oci::Digest::Parse(name);
    if (!wanted.ok()) wanted = oci::Digest::Parse(answer.head.headers.Find("Docker-Content-Digest").value_or(""));
    if (wanted.ok() && *wanted != document.digest) {
      return absl::DataLossError(fmt::format("{}: the bytes have the digest {}", what, document.digest.ToString()));
    }
    document.body = std::move(answer.body);
    document.etag = answer.head.headers.Find("ETag").value_or("");
    // Some registries do not say what they send; the document itself mostly does.
    if (document.media_type.empty() || !document.media_type.starts_with("application/vnd.")) {
      SOCI_ASSIGN_OR_RETURN(std::string type, oci::DocumentMediaType(document.body));
      if (!type.empty()) document.media_type = std::move(type);
    }
    return document;
  }

  const std::shared_ptr<RegistryCore> core_;
};

}  // namespace

std::unique_ptr<RegistryClient> MakeRegistryClient(HttpTransport& transport, CredentialProvider& credentials,
                                                   RegistryClientOptions options) {
  return std::make_unique<DistributionClient>(
      std::make_shared<RegistryCore>(transport, credentials, std::move(options)));
}

}  // namespace soci
