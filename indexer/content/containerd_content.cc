#include "indexer/content/containerd_content.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <vector>

#include "proto/containerd/content.grpc.pb.h"

namespace soci {
namespace {

namespace api = containerd::services::content::v1;

constexpr size_t kPiece = 1 << 20;
constexpr auto kNoDeadline = std::chrono::milliseconds(0);

std::string RefOf(const oci::Descriptor& blob) { return "soci-" + blob.digest.ToString(); }

// One ingestion. After an error `end` says what containerd had to say.
class Ingestion {
 public:
  Ingestion(const ContainerdChannel& channel, const oci::Descriptor& blob)
      : call_(channel, kNoDeadline), stub_(api::Content::NewStub(channel.channel())), blob_(blob) {
    stream_ = stub_->Write(call_.context());
  }

  bool Send(api::WriteAction action, ByteSpan bytes, const ContainerdContent::Labels& labels = {}) {
    api::WriteContentRequest request;
    request.set_action(action);
    request.set_ref(RefOf(blob_));
    request.set_total(blob_.size);
    request.set_expected(blob_.digest.ToString());
    request.set_offset(static_cast<int64_t>(offset_));
    request.set_data(bytes.data(), bytes.size());
    request.mutable_labels()->insert(labels.begin(), labels.end());
    offset_ += bytes.size();
    api::WriteContentResponse response;
    return stream_->Write(request) && stream_->Read(&response);
  }

  grpc::Status End() {
    stream_->WritesDone();
    api::WriteContentResponse response;
    while (stream_->Read(&response)) {
    }
    return stream_->Finish();
  }
  void Cancel() {
    call_.context()->TryCancel();
    End();
  }

  uint64_t offset() const { return offset_; }

 private:
  ContainerdCall call_;
  std::unique_ptr<api::Content::Stub> stub_;
  const oci::Descriptor& blob_;
  std::unique_ptr<grpc::ClientReaderWriter<api::WriteContentRequest, api::WriteContentResponse>> stream_;
  uint64_t offset_ = 0;
};

std::string Writing(const oci::Descriptor& blob) {
  return fmt::format("writing {} into containerd's content store", blob.digest.ToString());
}

class TextStream : public ByteStream {
 public:
  explicit TextStream(std::string_view text) : rest_(AsBytes(text)) {}
  Result<size_t> Read(MutableByteSpan out) override {
    const size_t count = std::min(out.size(), rest_.size());
    std::copy_n(rest_.begin(), count, out.begin());
    rest_ = rest_.subspan(count);
    return count;
  }

 private:
  ByteSpan rest_;
};

}  // namespace

Result<bool> ContainerdContent::Has(const oci::Digest& digest) {
  ContainerdCall call(channel_);
  api::InfoRequest request;
  request.set_digest(digest.ToString());
  api::InfoResponse response;
  const grpc::Status status = api::Content::NewStub(channel_.channel())->Info(call.context(), request, &response);
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return false;
  if (!status.ok()) return FromGrpc(status, "asking containerd for " + digest.ToString());
  return true;
}

Result<std::string> ContainerdContent::Read(const oci::Digest& digest, uint64_t limit) {
  const std::string what = fmt::format("reading {} from containerd", digest.ToString());
  ContainerdCall call(channel_);
  api::ReadContentRequest request;
  request.set_digest(digest.ToString());
  auto stub = api::Content::NewStub(channel_.channel());
  auto reader = stub->Read(call.context(), request);
  std::string bytes;
  api::ReadContentResponse piece;
  while (reader->Read(&piece)) {
    if (bytes.size() + piece.data().size() > limit) {
      call.context()->TryCancel();
      reader->Finish();
      return absl::ResourceExhaustedError(fmt::format("{}: larger than {} bytes", what, limit));
    }
    bytes += piece.data();
  }
  if (const grpc::Status status = reader->Finish(); !status.ok()) return FromGrpc(status, what);
  if (oci::Digest::Of(bytes) != digest) return absl::DataLossError(what + ": the bytes do not match");
  return bytes;
}

Status ContainerdContent::Put(const oci::Descriptor& blob, std::string_view bytes, const Labels& labels) {
  TextStream stream(bytes);
  return Copy(blob, stream, labels);
}

Status ContainerdContent::Copy(const oci::Descriptor& blob, ByteStream& bytes, const Labels& labels,
                               const Progress& progress) {
  Abort(RefOf(blob));
  Ingestion ingestion(channel_, blob);
  oci::Hasher hasher;
  std::vector<std::byte> piece(kPiece);
  bool going = ingestion.Send(api::STAT, {});  // tells at once if the blob is there already
  while (going && ingestion.offset() < static_cast<uint64_t>(blob.size)) {
    auto count = bytes.Read(piece);
    const bool wrong = count.ok() && (*count == 0 || ingestion.offset() + *count > static_cast<uint64_t>(blob.size));
    if (!count.ok() || wrong) {
      ingestion.Cancel();
      Abort(RefOf(blob));
      if (!count.ok()) return Annotate(count.status(), Writing(blob));
      return absl::DataLossError(fmt::format("{}: not {} bytes long", Writing(blob), blob.size));
    }
    const ByteSpan read(piece.data(), *count);
    hasher.Update(read);
    going = ingestion.Send(api::WRITE, read);
    if (going && progress) progress(ingestion.offset());
  }
  if (going && hasher.Finish() != blob.digest) {
    ingestion.Cancel();
    Abort(RefOf(blob));
    return absl::DataLossError(Writing(blob) + ": the bytes do not match the digest");
  }
  if (going) ingestion.Send(api::COMMIT, {}, labels);
  const grpc::Status status = ingestion.End();
  if (status.error_code() == grpc::StatusCode::ALREADY_EXISTS) return SetLabels(blob.digest, labels);
  if (!status.ok()) Abort(RefOf(blob));
  return FromGrpc(status, Writing(blob));
}

Status ContainerdContent::SetLabels(const oci::Digest& digest, const Labels& labels) {
  if (labels.empty()) return OkStatus();
  ContainerdCall call(channel_);
  api::UpdateRequest request;
  request.mutable_info()->set_digest(digest.ToString());
  for (const auto& [key, value] : labels) {
    (*request.mutable_info()->mutable_labels())[key] = value;
    request.mutable_update_mask()->add_paths("labels." + key);
  }
  api::UpdateResponse response;
  return FromGrpc(api::Content::NewStub(channel_.channel())->Update(call.context(), request, &response),
                  "labelling " + digest.ToString());
}

void ContainerdContent::Abort(const std::string& ref) {
  ContainerdCall call(channel_, std::chrono::seconds(5), ContainerdCall::Stoppable::kNo);
  api::AbortRequest request;
  request.set_ref(ref);
  google::protobuf::Empty response;
  api::Content::NewStub(channel_.channel())->Abort(call.context(), request, &response);  // there may be none
}

}  // namespace soci
