#include "bench/image/make/deflate_pieces.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/support/tar_builder.h"

namespace soci::bench {
namespace {

// One stream, to its end.
std::string Inflate(const std::string& stream, size_t most) {
  z_stream zlib{};
  inflateInit2(&zlib, -15);
  std::string out(most + 1, '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
  zlib.avail_in = static_cast<uInt>(stream.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&zlib, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(zlib.avail_in, 0u);
  out.resize(zlib.total_out);
  inflateEnd(&zlib);
  return out;
}

TEST(PieceCompressor, PiecesTogetherAreOneStream) {
  for (const int level : {0, 1, 6, 12}) {
    SCOPED_TRACE(level);
    PieceCompressor compressor(level);
    std::string all, stream;
    for (const size_t size : {size_t{1}, size_t{70'000}, size_t{0}, size_t{333'333}, size_t{4'097}}) {
      for (const std::string& piece : {test::NoiseBytes(size, size), test::ProseBytes(size, size)}) {
        all += piece;
        stream += compressor.Compress(piece);
      }
    }
    EXPECT_EQ(Inflate(stream + std::string(kDeflateEnd), all.size()), all);
  }
}

TEST(PieceCompressor, ALongPieceOfManyBlocks) {
  PieceCompressor compressor(1);
  const std::string piece = test::ProseBytes(kDeflatePiece, 1);
  EXPECT_EQ(Inflate(compressor.Compress(piece) + compressor.Compress("x") + std::string(kDeflateEnd), piece.size() + 1),
            piece + "x");
  EXPECT_THROW(compressor.Compress(piece + "x"), std::runtime_error);
}

}  // namespace
}  // namespace soci::bench
