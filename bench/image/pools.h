// What files of made images are cut from: a megabyte of each kind of content, compressible as such content is. Pure;
// each pool is made when it is first asked for. Any thread.
#pragma once

#include <cstddef>
#include <string>

namespace soci::bench {

enum class ContentKind { kText, kCode, kWeights, kNoise };

inline constexpr size_t kPieceBytes = 512;
inline constexpr size_t kPoolBytes = size_t{1} << 20;

// kPoolBytes + kPieceBytes bytes, so that a piece may begin at each of the first kPoolBytes.
const std::string& Pool(ContentKind kind);

}  // namespace soci::bench
