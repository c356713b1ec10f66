#include "indexer/codec/stream_decoder.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "indexer/codec/gzip_decoder.h"

namespace soci {
namespace {

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(ByteStream& layer) : layer_(layer) {}
  Result<size_t> Read(MutableByteSpan out) override { return layer_.Read(out); }

 private:
  ByteStream& layer_;
};

class GzipStream final : public ByteStream {
 public:
  explicit GzipStream(ByteStream& layer) : decoder_(layer) {}

  Result<size_t> Read(MutableByteSpan out) override {
    if (piece_.empty()) {
      SOCI_ASSIGN_OR_RETURN(piece_, decoder_.Next());
    }
    const size_t count = std::min(out.size(), piece_.size());
    if (count > 0) std::memcpy(out.data(), piece_.data(), count);
    piece_ = piece_.subspan(count);
    return count;
  }

 private:
  GzipDecoder decoder_;
  ByteSpan piece_;
};

// Any number of frames, skippable ones among them.
class ZstdStream final : public ByteStream {
 public:
  explicit ZstdStream(ByteStream& layer) : layer_(layer), input_(ZSTD_DStreamInSize()), context_(ZSTD_createDCtx()) {
    // Builders use windows of up to 128 MiB ("--long"); more would let a small layer take all memory.
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, 27);
  }
  ~ZstdStream() override { ZSTD_freeDCtx(context_); }

  Result<size_t> Read(MutableByteSpan out) override {
    ZSTD_outBuffer made{out.data(), out.size(), 0};
    while (made.pos == 0) {
      if (begin_ == end_ && !flushing_) {
        SOCI_ASSIGN_OR_RETURN(end_, layer_.Read(input_));
        begin_ = 0;
        if (end_ == 0) {
          if (inside_frame_) return absl::InvalidArgumentError("zstd data truncated");
          return size_t{0};
        }
      }
      ZSTD_inBuffer taken{input_.data(), end_, begin_};
      const size_t outcome = ZSTD_decompressStream(context_, &made, &taken);
      if (ZSTD_isError(outcome)) {
        return absl::InvalidArgumentError(fmt::format("zstd data damaged: {}", ZSTD_getErrorName(outcome)));
      }
      begin_ = taken.pos;
      inside_frame_ = outcome != 0;
      flushing_ = inside_frame_ && made.pos == made.size;  // more output may be waiting inside
    }
    return made.pos;
  }

 private:
  ByteStream& layer_;
  std::vector<std::byte> input_;
  ZSTD_DCtx* context_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool inside_frame_ = false;
  bool flushing_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> DecodeStream(ByteStream& layer, StreamFormat format) {
  switch (format) {
    case StreamFormat::kGzip:
      return std::make_unique<GzipStream>(layer);
    case StreamFormat::kZstd:
      return std::make_unique<ZstdStream>(layer);
    case StreamFormat::kPlainTar:
      break;
  }
  return std::make_unique<PlainStream>(layer);
}

}  // namespace soci
