// The bytes of a file of a made image: they follow from the image's seed and the file's path alone, anywhere in the
// file, so that whoever reads one byte can tell whether it is the right one.
//
// A file is cut from its kind's pool in pieces of 512 bytes, each from a place that seed, path and the piece's number
// decide: as fast to make and to check as memory is to copy, and deflate's window is too short to see a piece twice.
// Borrows the pool, which lives as long as the program. Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/image/pools.h"

namespace soci::bench {

// By the name's ending: programs' sources are text, libraries code, .safetensors weights, .jpg noise.
ContentKind KindOf(std::string_view path);

class FileContent {
 public:
  // `path` without a slash before it, as in the tar.
  FileContent(uint64_t image_seed, std::string_view path);

  // Bytes [offset, offset + size).
  void Fill(uint64_t offset, char* out, size_t size) const;
  // How many of these bytes, from the first on, are the file's from `offset` on: `size` if all are.
  size_t Matching(uint64_t offset, const char* bytes, size_t size) const;

 private:
  const char* Piece(uint64_t number) const;

  const uint64_t seed_;
  const std::string& pool_;
};

}  // namespace soci::bench
