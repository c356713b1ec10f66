// Writes one layer of a made image as NAME.tar.gz and NAME.diff_id into a folder, as layer_folder.h reads them.
//
// Memory is a piece or two, however large the layer. The tar has PAX records where ustar has no room; the gzip stream
// is one member. Throws std::runtime_error. One thread per object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/image/make/deflate_pieces.h"
#include "bench/image/tree.h"
#include "indexer/base/unique_fd.h"
#include "indexer/oci/digest.h"

namespace soci::bench {

struct WrittenLayer {
  std::string name;
  oci::DiffId diff_id;
  oci::LayerDigest digest;
  uint64_t compressed_bytes = 0, uncompressed_bytes = 0;
};

class LayerWriter {
 public:
  LayerWriter(const std::string& folder, std::string name, uint64_t image_seed, int level);

  // A file's content follows from its path.
  void Add(const TreeEntry& entry);
  // A file with content of its own.
  void AddFile(const std::string& path, std::string_view content, bool executable);
  WrittenLayer Finish();

 private:
  void Append(std::string_view bytes);
  void AppendContent(const TreeEntry& entry);
  void WritePiece();
  void Write(std::string_view bytes);

  const std::string path_;  // without an ending
  const uint64_t image_seed_;
  PieceCompressor compressor_;
  UniqueFd fd_;
  std::string piece_;
  oci::Hasher uncompressed_, compressed_;
  uint32_t crc_ = 0;
  WrittenLayer written_;
};

}  // namespace soci::bench
