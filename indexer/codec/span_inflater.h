// Inflates a part of a gzip layer from a checkpoint on, over the ends of members. Keeps its buffers from one span to
// the next. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"
#include "indexer/codec/gzip_header.h"
#include "indexer/codec/inflate.h"

namespace soci {

class SpanInflater {
 public:
  SpanInflater();

  // `window` and `compressed` stay valid until the last call for this span.
  Status Begin(const SpanExtent& span, ByteSpan window, ByteSpan compressed);

  // Fills all of `out`.
  Status Fill(MutableByteSpan out);

  // Gives all there is to `sink`, up to the end of the layer's last member.
  Status Drain(const std::function<Status(ByteSpan)>& sink);

 private:
  // Decodes until `next` has reached the target, or no member is left.
  Status Decode(deflate::Output& output);
  Status NextMember();
  void SetInput(ByteSpan rest);
  ByteSpan Rest() const;  // compressed bytes that are not used yet
  void UseTail();
  // Decodes at least `wanted` bytes, if there are so many, in the scratch buffer, whose window is set, and copies them
  // to `out`.
  Status FillByScratch(MutableByteSpan out, size_t wanted, size_t& made);
  deflate::Output ScratchOutput(size_t wanted);

  deflate::Inflater inflater_;
  ByteSpan compressed_;
  deflate::Input input_;
  MemberKind kind_ = MemberKind::kGzip;
  bool ended_ = false;
  uint64_t member_size_ = 0;      // made of the current member, the window included
  std::vector<uint8_t> scratch_;  // the window, room for output, and slack
  std::array<uint8_t, deflate::kMinInput + deflate::kInputSlack> tail_;  // the end of the input, with zeros behind it
};

}  // namespace soci
