// Bytes of a stream, read ahead of a decoder that wants to look at several at once and may leave some for later.
//
// Tells a sink which bytes were consumed, in order. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "indexer/base/byte_stream.h"
#include "indexer/base/bytes.h"
#include "indexer/base/result.h"

namespace soci {

class InputBuffer {
 public:
  // Zero bytes that follow the unread ones in memory: a decoder may load, but not use, bytes past the end.
  static constexpr size_t kSlack = 64;

  InputBuffer(ByteStream& stream, size_t capacity);

  ByteSpan unread() const { return ByteSpan(buffer_).subspan(begin_, end_ - begin_); }
  // Position in the stream of the first unread byte.
  uint64_t position() const { return end_position_ - (end_ - begin_); }
  bool at_end() const { return ended_ && begin_ == end_; }
  // No byte will be added to those unread now.
  bool ended() const { return ended_; }

  void Consume(size_t count) { begin_ += count; }

  // Reads once from the stream, or learns that it has ended.
  Status Fill();
  // Hands every byte consumed since the last call to `sink`.
  template <typename Sink>
  Status Report(Sink&& sink) {
    const ByteSpan consumed = ByteSpan(buffer_).subspan(reported_, begin_ - reported_);
    reported_ = begin_;
    return consumed.empty() ? OkStatus() : sink(consumed);
  }
  // Must be empty before Fill: bytes that were consumed and not yet reported.
  bool reported() const { return reported_ == begin_; }

 private:
  ByteStream& stream_;
  std::vector<std::byte> buffer_;
  size_t capacity_;
  size_t reported_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t end_position_ = 0;
  bool ended_ = false;
};

}  // namespace soci
