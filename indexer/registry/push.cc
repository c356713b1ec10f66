#include "indexer/registry/push.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "indexer/base/log.h"
#include "indexer/base/mutex.h"
#include "indexer/net/text.h"
#include "indexer/registry/collected_call.h"
#include "indexer/registry/referrers.h"
#include "indexer/registry/registry_error.h"

namespace soci {
namespace {

// Uploads that break are started anew this often; each request inside them has retries of its own.
constexpr int kMostUploads = 3;
// An upload that stays broken at the same byte.
constexpr int kMostResumes = 5;

// Bytes that belong to whoever pushes, and are read for no longer than the push lasts: a transfer that was given up may
// be let go later than that.
class BorrowedBytes final : public ByteSource {
 public:
  explicit BorrowedBytes(std::string_view bytes) : size_(bytes.size()), bytes_(bytes) {}

  uint64_t size() const override { return size_; }
  Status ReadAt(uint64_t offset, MutableByteSpan out, const FetchContext&) const override {
    MutexLock lock(mutex_);
    if (returned_) return absl::CancelledError("the push is over");
    if (offset > size_ || out.size() > size_ - offset) return absl::OutOfRangeError("read past the end of the blob");
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return OkStatus();
  }
  void Return() {
    MutexLock lock(mutex_);
    returned_ = true;
  }

 private:
  const uint64_t size_;
  mutable Mutex mutex_;  // a leaf
  const std::string_view bytes_ SOCI_GUARDED_BY(mutex_);
  bool returned_ SOCI_GUARDED_BY(mutex_) = false;
};

// One upload of one blob.
class BlobUpload {
 public:
  BlobUpload(std::shared_ptr<RegistryCore> core, const oci::Reference& repository, const oci::Descriptor& blob,
             std::string_view bytes)
      : core_(std::move(core)), repository_(repository), blob_(blob), body_(std::make_shared<BorrowedBytes>(bytes)) {
    context_.budget = core_->options.push_budget;
  }
  ~BlobUpload() { body_->Return(); }
  BlobUpload(const BlobUpload&) = delete;
  BlobUpload& operator=(const BlobUpload&) = delete;

  Result<bool> Exists() {
    CallSpec spec = Spec("HEAD", "blobs/" + blob_.digest.ToString());
    Result<CallResult> answer = CollectCall(core_, std::move(spec), {}, context_);
    if (answer.ok()) return true;
    if (HttpStatusOf(answer.status()) == 404) return false;
    return answer.status();
  }

  Status Upload() {
    SOCI_RETURN_IF_ERROR(Begin());
    if (body_->size() > core_->options.push_piece && !refuses_pieces_) {
      SOCI_RETURN_IF_ERROR(SendPieces());
      return Finish(0);
    }
    return Finish(body_->size());
  }

  // A registry that takes no pieces takes the whole.
  bool refuses_pieces() const { return refuses_pieces_; }

 private:
  CallSpec Spec(std::string method, std::string path) const {
    CallSpec spec;
    spec.method = std::move(method);
    spec.repository = repository_;
    spec.path = std::move(path);
    spec.push = true;
    spec.capability = HostCapability::kPush;
    spec.what =
        fmt::format("pushing blob {} to {}/{}", blob_.digest.ToString(), repository_.host, repository_.repository);
    return spec;
  }

  Status Begin() {
    SOCI_ASSIGN_OR_RETURN(CallResult answer, CollectCall(core_, Spec("POST", "blobs/uploads/"), {}, context_));
    return TakeLocation(answer);
  }

  Status TakeLocation(const CallResult& answer) {
    std::optional<std::string_view> location = answer.head.headers.Find("Location");
    if (!location) return absl::FailedPreconditionError("the registry named no place to upload to");
    Result<Url> url = ResolveUrl(answer.url, *location);
    if (!url.ok()) return Annotate(url.status(), "the place to upload to");
    location_ = *std::move(url);
    return OkStatus();
  }

  Status SendPieces() {
    int resumes = 0;
    for (uint64_t sent = 0; sent < body_->size();) {
      uint64_t length = std::min(core_->options.push_piece, body_->size() - sent);
      CallSpec spec = Spec("PATCH", "");
      spec.absolute_url = location_.ToString();
      CallContent content{.body = body_, .body_offset = sent, .body_length = length};
      content.headers.Add("Content-Type", "application/octet-stream");
      content.headers.Add("Content-Range", fmt::format("{}-{}", sent, sent + length - 1));
      Result<CallResult> answer = CollectCall(core_, std::move(spec), std::move(content), context_);
      if (answer.ok()) {
        SOCI_RETURN_IF_ERROR(TakeLocation(*answer));
        sent += length;
        continue;
      }
      std::optional<int> http = HttpStatusOf(answer.status());
      if (sent == 0 && http && *http >= 400 && *http < 500 && *http != 404) refuses_pieces_ = true;
      if (refuses_pieces_ || ++resumes > kMostResumes) return answer.status();
      Result<uint64_t> arrived = AskProgress();
      if (!arrived.ok()) return answer.status();
      log::Debug("pushing blob {}: going on at byte {}", blob_.digest.ToString(), *arrived);
      sent = *arrived;
    }
    return OkStatus();
  }

  // How many bytes the registry has of a broken upload.
  Result<uint64_t> AskProgress() {
    CallSpec spec = Spec("GET", "");
    spec.absolute_url = location_.ToString();
    SOCI_ASSIGN_OR_RETURN(CallResult answer, CollectCall(core_, std::move(spec), {}, context_));
    if (answer.head.headers.Find("Location")) SOCI_RETURN_IF_ERROR(TakeLocation(answer));
    std::string_view range = answer.head.headers.Find("Range").value_or("");
    if (range.starts_with("bytes=")) range.remove_prefix(6);
    size_t dash = range.find('-');
    std::optional<uint64_t> last = dash == std::string_view::npos ? std::nullopt : ParseDecimal(range.substr(dash + 1));
    if (!last || *last > body_->size()) return absl::FailedPreconditionError("no usable Range");
    return *last == 0 ? 0 : std::min<uint64_t>(*last + 1, body_->size());
  }

  Status Finish(uint64_t body_length) {
    Url target = location_;
    target.query += (target.query.empty() ? "" : "&") + ("digest=" + PercentEncode(blob_.digest.ToString()));
    CallSpec spec = Spec("PUT", "");
    spec.absolute_url = target.ToString();
    CallContent content{.body = body_, .body_offset = 0, .body_length = body_length};
    content.headers.Add("Content-Type", "application/octet-stream");
    return CollectCall(core_, std::move(spec), std::move(content), context_).status();
  }

  const std::shared_ptr<RegistryCore> core_;
  const oci::Reference& repository_;
  const oci::Descriptor& blob_;
  const std::shared_ptr<BorrowedBytes> body_;
  FetchContext context_;
  Url location_;
  bool refuses_pieces_ = false;
};

}  // namespace

Status PushBlobTo(const std::shared_ptr<RegistryCore>& core, const oci::Reference& repository,
                  const oci::Descriptor& blob, std::string_view bytes) {
  if (oci::Digest::Of(bytes) != blob.digest) {
    return absl::InvalidArgumentError(fmt::format("pushing blob {}: the bytes are not its", blob.digest.ToString()));
  }
  BlobUpload upload(core, repository, blob, bytes);
  Status status;
  for (int attempt = 1; attempt <= kMostUploads; ++attempt) {
    SOCI_ASSIGN_OR_RETURN(bool exists, upload.Exists());
    if (exists) return OkStatus();
    bool refused_before = upload.refuses_pieces();
    status = upload.Upload();
    if (status.ok()) return OkStatus();
    std::optional<int> http = HttpStatusOf(status);
    bool again = status.code() == absl::StatusCode::kUnavailable || http == 404 || http == 416 ||
                 upload.refuses_pieces() != refused_before;
    if (!again) break;
    log::Debug("{}; starting the upload again", Message(status));
  }
  return status;
}

Result<PushedManifest> PushManifestTo(const std::shared_ptr<RegistryCore>& core, const oci::Reference& repository,
                                      const std::string& name, std::string_view media_type, std::string_view body,
                                      HttpHeaders condition) {
  CallSpec spec;
  spec.method = "PUT";
  spec.repository = repository;
  spec.path = "manifests/" + name;
  spec.push = true;
  spec.capability = HostCapability::kPush;
  spec.what = fmt::format("pushing manifest {} to {}/{}", name, repository.host, repository.repository);
  CallContent content{.body = MakeMemorySource(std::string(body)), .body_length = body.size()};
  content.headers = std::move(condition);
  content.headers.Add("Content-Type", std::string(media_type));
  FetchContext context;
  context.budget = core->options.push_budget;
  SOCI_ASSIGN_OR_RETURN(CallResult answer, CollectCall(core, std::move(spec), std::move(content), context));
  core->negative.Forget(NegativePrefix(repository));
  return PushedManifest{answer.head.headers.Find("OCI-Subject").has_value()};
}

}  // namespace soci
