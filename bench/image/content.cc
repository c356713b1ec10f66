#include "bench/image/content.h"

#include <algorithm>
#include <cstring>

#include "bench/image/random.h"

namespace soci::bench {
namespace {

bool EndsWith(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

}  // namespace

ContentKind KindOf(std::string_view path) {
  for (const char* ending : {".so", ".pyc", ".deb", ".bin"}) {
    if (EndsWith(path, ending)) return ContentKind::kCode;
  }
  if (EndsWith(path, ".safetensors")) return ContentKind::kWeights;
  return EndsWith(path, ".jpg") ? ContentKind::kNoise : ContentKind::kText;
}

FileContent::FileContent(uint64_t image_seed, std::string_view path)
    : seed_(Mix(HashText(path) ^ Mix(image_seed))), pool_(Pool(KindOf(path))) {}

const char* FileContent::Piece(uint64_t number) const { return pool_.data() + Mix(seed_ + number) % kPoolBytes; }

void FileContent::Fill(uint64_t offset, char* out, size_t size) const {
  while (size > 0) {
    const size_t within = offset % kPieceBytes, count = std::min(kPieceBytes - within, size);
    std::memcpy(out, Piece(offset / kPieceBytes) + within, count);
    offset += count;
    out += count;
    size -= count;
  }
}

size_t FileContent::Matching(uint64_t offset, const char* bytes, size_t size) const {
  size_t done = 0;
  while (done < size) {
    const size_t within = (offset + done) % kPieceBytes, count = std::min(kPieceBytes - within, size - done);
    const char* const right = Piece((offset + done) / kPieceBytes) + within;
    if (std::memcmp(bytes + done, right, count) != 0) {
      return done + static_cast<size_t>(std::mismatch(right, right + count, bytes + done).first - right);
    }
    done += count;
  }
  return size;
}

}  // namespace soci::bench
