#include "indexer/codec/span_inflater.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace soci {
namespace {

constexpr size_t kRoom = 64 << 10;

Status Damaged(std::string_view what) { return absl::DataLossError(fmt::format("span does not decode: {}", what)); }

const uint8_t* Data(ByteSpan bytes) { return reinterpret_cast<const uint8_t*>(bytes.data()); }

}  // namespace

SpanInflater::SpanInflater() : scratch_(kWindowSize + kRoom + deflate::kOutputSlack) {}

Status SpanInflater::Begin(const SpanExtent& span, ByteSpan window, ByteSpan compressed) {
  if (window.size() != kWindowSize) return absl::InternalError("a gzip span needs its window");
  if (span.bits > 7) return absl::InternalError("a byte has eight bits");
  std::memcpy(scratch_.data(), window.data(), kWindowSize);
  member_size_ = kWindowSize;
  kind_ = MemberKind::kGzip;
  ended_ = false;
  compressed_ = compressed;
  if (span.bits == 0) {
    inflater_.Begin();
  } else {
    if (compressed.empty()) return Damaged("no bytes");
    inflater_.Begin(std::to_integer<unsigned>(compressed[0]) >> (8 - span.bits), span.bits);
    compressed = compressed.subspan(1);
  }
  SetInput(compressed);
  return OkStatus();
}

void SpanInflater::SetInput(ByteSpan rest) { input_ = {Data(rest), Data(rest) + rest.size(), false}; }

ByteSpan SpanInflater::Rest() const { return compressed_.last(static_cast<size_t>(input_.end - input_.next)); }

// The inflater reads a little past the end of its last input, so that end is put where it may.
void SpanInflater::UseTail() {
  const ByteSpan rest = Rest();
  if (!rest.empty()) std::memcpy(tail_.data(), rest.data(), rest.size());
  std::memset(tail_.data() + rest.size(), 0, deflate::kInputSlack);
  input_ = {tail_.data(), tail_.data() + rest.size(), true};
}

Status SpanInflater::Decode(deflate::Output& output) {
  using Stop = deflate::Inflater::Stop;
  while (output.next < output.target && !ended_) {
    const uint8_t* before = output.next;
    const Stop stop = inflater_.Step(input_, output);
    member_size_ += static_cast<uint64_t>(output.next - before);
    switch (stop) {
      case Stop::kBlock:
      case Stop::kOutput:
        break;
      case Stop::kInput:
        UseTail();
        break;
      case Stop::kEnd:
        SOCI_RETURN_IF_ERROR(NextMember());
        output.oldest = output.next;
        break;
      case Stop::kTruncated:
        return Damaged("its bytes end too early");
      case Stop::kDamaged:
        return Damaged("damaged");
    }
  }
  return OkStatus();
}

Status SpanInflater::NextMember() {
  ByteSpan rest = Rest();
  // The span may have begun inside a zlib stream, which can only be the layer's last member; its trailer is shorter.
  if (rest.size() == MemberTrailerSize(MemberKind::kZlib)) kind_ = MemberKind::kZlib;
  const size_t trailer = MemberTrailerSize(kind_);
  if (rest.size() < trailer) return Damaged("trailer cut short");
  rest = rest.subspan(trailer);
  if (rest.empty()) {
    ended_ = true;
    return OkStatus();
  }
  const Result<MemberHeader> header = ParseMemberHeader(rest);
  if (!header.ok()) return Damaged(Message(header.status()));
  if (header->size == 0) return Damaged("member header cut short");
  kind_ = header->kind;
  SetInput(rest.subspan(header->size));
  inflater_.Begin();
  member_size_ = 0;
  return OkStatus();
}

deflate::Output SpanInflater::ScratchOutput(size_t wanted) {
  uint8_t* begin = scratch_.data() + kWindowSize;
  return {.next = begin, .target = begin + wanted, .oldest = begin - std::min<uint64_t>(member_size_, kWindowSize)};
}

Status SpanInflater::FillByScratch(MutableByteSpan out, size_t wanted, size_t& made) {
  deflate::Output output = ScratchOutput(wanted);
  SOCI_RETURN_IF_ERROR(Decode(output));
  const uint8_t* begin = scratch_.data() + kWindowSize;
  made = std::min(out.size(), static_cast<size_t>(output.next - begin));
  std::memcpy(out.data(), begin, made);
  return OkStatus();
}

// The first bytes refer to the window, which is not in front of `out`, and at the end there is no room behind `out`:
// both are decoded in the scratch buffer. All between goes straight to where it belongs.
Status SpanInflater::Fill(MutableByteSpan out) {
  if (out.empty()) return OkStatus();
  auto* const begin = reinterpret_cast<uint8_t*>(out.data());
  size_t made = 0;
  SOCI_RETURN_IF_ERROR(FillByScratch(out, std::min(out.size(), kWindowSize), made));
  if (!ended_ && out.size() - made > deflate::kOutputSlack) {
    deflate::Output output{.next = begin + made,
                           .target = begin + out.size() - deflate::kOutputSlack,
                           .oldest = begin + made - std::min<uint64_t>(member_size_, made)};
    SOCI_RETURN_IF_ERROR(Decode(output));
    made = static_cast<size_t>(output.next - begin);
  }
  if (!ended_ && made < out.size()) {
    std::memcpy(scratch_.data(), begin + made - kWindowSize, kWindowSize);
    size_t rest = 0;
    SOCI_RETURN_IF_ERROR(FillByScratch(out.subspan(made), out.size() - made, rest));
    made += rest;
  }
  if (made != out.size()) return Damaged(fmt::format("{} bytes where {} were promised", made, out.size()));
  return OkStatus();
}

Status SpanInflater::Drain(const std::function<Status(ByteSpan)>& sink) {
  while (!ended_) {
    deflate::Output output = ScratchOutput(kRoom);
    SOCI_RETURN_IF_ERROR(Decode(output));
    const size_t made = static_cast<size_t>(output.next - (scratch_.data() + kWindowSize));
    if (made > 0) SOCI_RETURN_IF_ERROR(sink(std::as_bytes(std::span(scratch_).subspan(kWindowSize, made))));
    std::memmove(scratch_.data(), scratch_.data() + made, kWindowSize);
  }
  return OkStatus();
}

}  // namespace soci
