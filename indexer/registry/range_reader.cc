#include "indexer/registry/range_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "indexer/net/content_range.h"

namespace soci {

Status RangeReader::BeforeAttempt() {
  if (diversion_ == nullptr || !diversion_->IsOpen()) return OkStatus();
  diverted_ = true;
  return absl::CancelledError("diverted");
}

void RangeReader::Prepare(HttpRequest& request) {
  skip_ = answer_left_ = 0;
  asked_for_part_ = position_ != 0 || end_ != blob_size_;
  if (asked_for_part_) request.headers.Add("Range", fmt::format("bytes={}-{}", position_, end_ - 1));
}

Status RangeReader::OnHead(const HttpResponseHead& head, const Url&) {
  if (head.status == 206) return JudgePartial(head);
  if (head.status == 200) return JudgeWhole(head);
  return absl::UnavailableError(fmt::format("the server answered {} to a read", head.status));
}

Status RangeReader::JudgePartial(const HttpResponseHead& head) {
  if (head.headers.MediaType() == "multipart/byteranges") {
    return absl::UnavailableError("the server answered one range with several parts");
  }
  std::optional<std::string_view> header = head.headers.Find("Content-Range");
  std::optional<ContentRange> range = header ? ParseContentRange(*header) : std::nullopt;
  if (!range) return absl::UnavailableError("the server answered 206 without a usable Content-Range");
  if (range->begin != position_ || range->end > end_) {
    return absl::UnavailableError(fmt::format("asked for bytes {}-{}, the server answered with {}-{}", position_,
                                              end_ - 1, range->begin, range->end - 1));
  }
  if (range->total && *range->total != blob_size_) {
    return absl::UnavailableError(fmt::format("the blob has {} bytes, the server's has {}", blob_size_, *range->total));
  }
  std::optional<uint64_t> length = head.headers.ContentLength();
  if (length && *length != range->end - range->begin) {
    return absl::UnavailableError("the server's Content-Length and Content-Range disagree");
  }
  answer_left_ = range->end - range->begin;
  return OkStatus();
}

Status RangeReader::JudgeWhole(const HttpResponseHead& head) {
  std::optional<uint64_t> length = head.headers.ContentLength();
  if (length && *length != blob_size_) {
    return absl::UnavailableError(fmt::format("the blob has {} bytes, the server sends {}", blob_size_, *length));
  }
  if (asked_for_part_ && diversion_ != nullptr && diversion_->Open()) {
    diverted_ = true;
    return absl::CancelledError("diverted");
  }
  skip_ = position_;
  answer_left_ = blob_size_;
  return OkStatus();
}

Status RangeReader::OnBody(ByteSpan bytes) {
  if (bytes.size() > answer_left_) return absl::UnavailableError("the server sends more than it announced");
  answer_left_ -= bytes.size();
  uint64_t skipped = std::min<uint64_t>(skip_, bytes.size());
  skip_ -= skipped;
  bytes = bytes.subspan(skipped);
  bytes = bytes.subspan(0, std::min<uint64_t>(bytes.size(), end_ - position_));
  if (!bytes.empty()) {
    sink_status_ = sink_->OnBytes(bytes);
    if (!sink_status_.ok()) return absl::CancelledError("the reader has had enough");
    position_ += bytes.size();
  }
  // The rest of a whole blob is not wanted; the last bytes of a range end by themselves, which keeps the connection.
  if (position_ == end_ && answer_left_ > 0) return absl::CancelledError("all there");
  return OkStatus();
}

void RangeReader::OnFinish(Status status) {
  std::shared_ptr<RangeDiversion> diversion = std::move(diversion_);
  if (diverted_ && status.code() == absl::StatusCode::kCancelled && sink_status_.ok()) {
    return diversion->Take(position_, end_, sink_);
  }
  sink_->OnEnd(sink_status_.ok() ? std::move(status) : std::move(sink_status_));
}

}  // namespace soci
