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
constexpr uint64_t kSmallestPart = 8_MiB;
constexpr size_t kMostParts = 4;
constexpr uint64_t kLargestInParts = 128_MiB;
// A proxy may serve a torn body once; three times is corruption.
constexpr int kDigestAttempts = 3;

std::string AcceptedManifests() {
  return fmt::format("{}, {}, {}, {}", oci::kMediaTypeManifest, oci::kMediaTypeImageIndex,
                     oci::kMediaTypeDockerManifest, oci::kMediaTypeDockerManifestList);
}

// A blob's bytes while they come, in parts that know their places.
class Gathering {
 public:
  Gathering(uint64_t size, size_t parts) : text_(size, '\0'), open_(parts) {}

  // Parts do not overlap and lie within the size.
  void Put(uint64_t at, ByteSpan bytes) { std::copy_n(AsText(bytes).data(), bytes.size(), text_.data() + at); }
  void PartEnded(Status status) {
    MutexLock lock(mutex_);
    --open_;
    if (status_.ok()) status_ = std::move(status);
    changed_.NotifyAll();
  }
  // Once all parts are here, or one has failed.
  Result<std::string> Wait() {
    MutexLock lock(mutex_);
    while (open_ > 0 && status_.ok()) changed_.Wait(mutex_);
    if (!status_.ok()) return std::exchange(status_, OkStatus());
    return std::move(text_);
  }

 private:
  std::string text_;  // network thread, until open_ is 0
  Mutex mutex_;       // a leaf
  CondVar changed_;
  size_t open_ SOCI_GUARDED_BY(mutex_);
  Status status_ SOCI_GUARDED_BY(mutex_);
};

class PartSink final : public ByteSink {
 public:
  PartSink(std::shared_ptr<Gathering> whole, uint64_t begin) : whole_(std::move(whole)), position_(begin) {}
  Status OnBytes(ByteSpan bytes) override {
    whole_->Put(position_, bytes);
    position_ += bytes.size();
    return OkStatus();
  }
  void OnEnd(Status status) override { whole_->PartEnded(std::move(status)); }

 private:
  const std::shared_ptr<Gathering> whole_;
  uint64_t position_;
};

// A large blob comes over several connections, as one alone may be far slower than the link. Not a huge one: memory is
// taken before a byte is there.
size_t PartsOf(uint64_t size) {
  if (size > kLargestInParts) return 1;
  return std::clamp<size_t>(size / kSmallestPart, 1, kMostParts);
}

Result<std::string> Gather(const ByteSource& source, const FetchContext& context) {
  const size_t parts = PartsOf(source.size());
  auto whole = std::make_shared<Gathering>(source.size(), parts);
  std::vector<std::shared_ptr<Transfer>> transfers;
  for (size_t i = 0; i < parts; ++i) {
    const uint64_t begin = source.size() * i / parts;
    const uint64_t end = source.size() * (i + 1) / parts;
    transfers.push_back(source.StartRead(begin, end - begin, context, std::make_shared<PartSink>(whole, begin)));
  }
  Result<std::string> text = whole->Wait();
  if (!text.ok()) {
    for (const std::shared_ptr<Transfer>& transfer : transfers) {
      if (transfer) transfer->Cancel();
    }
  }
  return text;
}

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
      SOCI_ASSIGN_OR_RETURN(std::string bytes, Gather(*MakeRemoteBlob(core_, repository, blob), context));
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
