#include "bench/image/make/deflate_pieces.h"

#include <libdeflate.h>

#include <stdexcept>

#include "indexer/codec/inflate.h"

namespace soci::bench {
namespace {

using deflate::Inflater;

struct LastBlock {
  size_t begin_bit, end_bit;
};

// Where the last block of the stream begins and ends.
LastBlock FindLastBlock(const std::string& stream, size_t size, std::string_view right, std::string& inflated) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(stream.data());
  auto* const out = reinterpret_cast<uint8_t*>(inflated.data());
  deflate::Input input{begin, begin + size, true};
  deflate::Output output{out, out + kDeflatePiece + 1, out};
  const auto bit = [&](unsigned unused) { return static_cast<size_t>(input.next - begin) * 8 - unused; };
  Inflater inflater;
  inflater.Begin();
  LastBlock last{0, 0};
  for (;;) {
    const Inflater::Stop stop = inflater.Step(input, output);
    if (stop == Inflater::Stop::kEnd) break;
    if (stop != Inflater::Stop::kBlock) throw std::runtime_error("a compressed piece cannot be inflated");
    last.begin_bit = bit(inflater.unused_bits());
  }
  if (AsText({reinterpret_cast<const std::byte*>(out), reinterpret_cast<const std::byte*>(output.next)}) != right) {
    throw std::runtime_error("a compressed piece inflates to something else");
  }
  last.end_bit = bit(inflater.unused_bits());
  return last;
}

}  // namespace

PieceCompressor::PieceCompressor(int level)
    : compressor_(libdeflate_alloc_compressor(level)), inflated_(kDeflatePiece + 1 + deflate::kOutputSlack, '\0') {
  if (compressor_ == nullptr) throw std::runtime_error("libdeflate has no such level, or no memory");
}

PieceCompressor::~PieceCompressor() { libdeflate_free_compressor(compressor_); }

std::string PieceCompressor::Compress(std::string_view piece) {
  if (piece.size() > kDeflatePiece) throw std::runtime_error("a piece is too large");
  const size_t bound = libdeflate_deflate_compress_bound(compressor_, piece.size());
  std::string out(bound + deflate::kInputSlack, '\0');
  const size_t size = libdeflate_deflate_compress(compressor_, piece.data(), piece.size(), out.data(), bound);
  if (size == 0) throw std::runtime_error("libdeflate failed");
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(size), out.end(), '\0');
  const LastBlock last = FindLastBlock(out, size, piece, inflated_);
  out[last.begin_bit / 8] = static_cast<char>(out[last.begin_bit / 8] & ~(1 << last.begin_bit % 8));
  // An empty stored block, which ends at a byte: three zero bits, zeros up to the byte's end, its length and
  // not-length.
  out.resize((last.end_bit + 3 + 7) / 8);
  return out.append("\x00\x00\xff\xff", 4);
}

}  // namespace soci::bench
