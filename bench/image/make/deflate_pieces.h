// Compresses a stream in pieces of a few megabytes, each by itself, and joins them into one DEFLATE stream: what pigz
// and the builders that use several threads do, at libdeflate's speed, which only knows whole streams.
//
// The last block of a piece is marked as the stream's last; our own inflate, which knows where blocks begin, finds that
// mark, and it is taken back. The same bytes give the same result on every machine with the same libdeflate. Throws
// std::runtime_error if the piece does not inflate to what it was, which would be a bug. Any thread, one object each.
#pragma once

#include <string>
#include <string_view>

struct libdeflate_compressor;

namespace soci::bench {

inline constexpr size_t kDeflatePiece = size_t{4} << 20;

class PieceCompressor {
 public:
  explicit PieceCompressor(int level);
  ~PieceCompressor();
  PieceCompressor(const PieceCompressor&) = delete;
  PieceCompressor& operator=(const PieceCompressor&) = delete;

  // Whole bytes that are a part of a DEFLATE stream: after them another piece may come, or kDeflateEnd. At most
  // kDeflatePiece bytes.
  std::string Compress(std::string_view piece);

 private:
  libdeflate_compressor* const compressor_;
  std::string inflated_;
};

// An empty last block.
inline constexpr std::string_view kDeflateEnd("\x01\x00\x00\xff\xff", 5);

}  // namespace soci::bench
