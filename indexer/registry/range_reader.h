// Turns the answers to one ranged read into that range's bytes in order, or refuses them: never silently wrong ones.
//
// Takes 206 with the right Content-Range, also a short one (the rest is asked for), and 200 with the whole blob, of
// which the part before the range is dropped as it comes. Network thread.
#pragma once

#include <cstdint>
#include <memory>

#include "indexer/base/byte_source.h"
#include "indexer/registry/registry_call.h"

namespace soci {

// Where reads go when a server ignores ranges.
class RangeDiversion {
 public:
  virtual ~RangeDiversion() = default;
  // The blob is on its way as a whole already: no request is needed.
  virtual bool IsOpen() const = 0;
  // Opens it; false: it cannot be had.
  virtual bool Open() = 0;
  // Takes over what is left of a read.
  virtual void Take(uint64_t begin, uint64_t end, std::shared_ptr<ByteSink> sink) = 0;
};

class RangeReader final : public CallHandler {
 public:
  // `diversion` may be null.
  RangeReader(uint64_t offset, uint64_t length, uint64_t blob_size, std::shared_ptr<ByteSink> sink,
              std::shared_ptr<RangeDiversion> diversion)
      : position_(offset),
        end_(offset + length),
        blob_size_(blob_size),
        sink_(std::move(sink)),
        diversion_(std::move(diversion)) {}

  Status BeforeAttempt() override;
  void Prepare(HttpRequest& request) override;
  Status OnHead(const HttpResponseHead& head, const Url& url) override;
  Status OnBody(ByteSpan bytes) override;
  bool Satisfied() const override { return position_ == end_; }
  void OnFinish(Status status) override;

 private:
  Status JudgePartial(const HttpResponseHead& head);
  Status JudgeWhole(const HttpResponseHead& head);

  uint64_t position_;  // of the next byte to hand on
  const uint64_t end_;
  const uint64_t blob_size_;
  const std::shared_ptr<ByteSink> sink_;
  std::shared_ptr<RangeDiversion> diversion_;
  bool asked_for_part_ = false;
  bool diverted_ = false;
  uint64_t skip_ = 0;         // bytes of this answer that come before position_
  uint64_t answer_left_ = 0;  // bytes this answer may still bring
  Status sink_status_;
};

}  // namespace soci
