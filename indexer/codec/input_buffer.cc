#include "indexer/codec/input_buffer.h"

#include <cstring>

namespace soci {

InputBuffer::InputBuffer(ByteStream& stream, size_t capacity)
    : stream_(stream), buffer_(capacity + kSlack), capacity_(capacity) {}

Status InputBuffer::Fill() {
  if (ended_) return OkStatus();
  if (!reported()) return absl::InternalError("consumed bytes were not reported");
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = reported_ = 0;
  }
  if (end_ == capacity_) return absl::InternalError("a full buffer cannot be filled");
  SOCI_ASSIGN_OR_RETURN(const size_t count, stream_.Read(MutableByteSpan(buffer_).subspan(end_, capacity_ - end_)));
  ended_ = count == 0;
  end_ += count;
  end_position_ += count;
  std::memset(buffer_.data() + end_, 0, kSlack);
  return OkStatus();
}

}  // namespace soci
