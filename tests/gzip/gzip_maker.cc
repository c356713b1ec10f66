#include "tests/gzip/gzip_maker.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <stdexcept>

namespace soci::test {
namespace {

void AppendLittleEndian(std::string& out, uint32_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i));
}

class ZlibDeflater {
 public:
  explicit ZlibDeflater(const GzipRecipe& recipe) {
    if (deflateInit2(&stream_, recipe.level, Z_DEFLATED, -MAX_WBITS, recipe.memory, recipe.strategy) != Z_OK) {
      throw std::runtime_error("deflateInit2");
    }
  }
  ~ZlibDeflater() { deflateEnd(&stream_); }
  ZlibDeflater(const ZlibDeflater&) = delete;
  ZlibDeflater& operator=(const ZlibDeflater&) = delete;

  void Prime(std::string_view dictionary) {
    deflateSetDictionary(&stream_, reinterpret_cast<const Bytef*>(dictionary.data()),
                         static_cast<uInt>(dictionary.size()));
  }

  void Run(std::string_view bytes, int flush, std::string& out) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    char buffer[16384];
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer);
      stream_.avail_out = sizeof buffer;
      deflate(&stream_, flush);
      out.append(buffer, sizeof buffer - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_ = {};
};

std::string Flushing(std::string_view bytes, const GzipRecipe& recipe) {
  std::string out;
  ZlibDeflater deflater(recipe);
  const int flush = recipe.full_flush ? Z_FULL_FLUSH : Z_SYNC_FLUSH;
  if (recipe.flush_first) deflater.Run({}, flush, out);
  for (size_t at = 0; at < bytes.size(); at += recipe.block) deflater.Run(bytes.substr(at, recipe.block), flush, out);
  deflater.Run({}, Z_FINISH, out);
  return out;
}

std::string Primed(std::string_view bytes, const GzipRecipe& recipe) {
  std::string out;
  for (size_t at = 0; at < std::max<size_t>(bytes.size(), 1); at += recipe.block) {
    ZlibDeflater deflater(recipe);
    const size_t history = std::min<size_t>(at, 32768);
    if (history > 0) deflater.Prime(bytes.substr(at - history, history));
    const bool last = at + recipe.block >= bytes.size();
    deflater.Run(bytes.substr(at, recipe.block), last ? Z_FINISH : Z_SYNC_FLUSH, out);
  }
  return out;
}

std::string GoLike(std::string_view bytes, const GzipRecipe& recipe) {
  std::string out;
  ZlibDeflater deflater(recipe);
  deflater.Run(bytes, Z_SYNC_FLUSH, out);
  out += std::string("\x01\x00\x00\xff\xff", 5);
  return out;
}

std::string ByLibdeflate(std::string_view bytes, const GzipRecipe& recipe) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(recipe.level);
  std::string out(libdeflate_deflate_compress_bound(compressor, bytes.size()), '\0');
  out.resize(libdeflate_deflate_compress(compressor, bytes.data(), bytes.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

std::string ByIgzip(std::string_view bytes, const GzipRecipe& recipe) {
  isal_zstream stream;
  isal_deflate_init(&stream);
  std::string level_buffer(ISAL_DEF_LVL3_DEFAULT, '\0');
  stream.level = static_cast<uint32_t>(std::clamp(recipe.level, 0, 3));
  stream.level_buf = reinterpret_cast<uint8_t*>(level_buffer.data());
  stream.level_buf_size = static_cast<uint32_t>(level_buffer.size());
  stream.end_of_stream = 1;
  stream.flush = NO_FLUSH;
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uint32_t>(bytes.size());
  std::string out;
  uint8_t buffer[16384];
  do {
    stream.next_out = buffer;
    stream.avail_out = sizeof buffer;
    if (isal_deflate(&stream) != COMP_OK) throw std::runtime_error("isal_deflate");
    out.append(reinterpret_cast<char*>(buffer), sizeof buffer - stream.avail_out);
  } while (stream.internal_state.state != ZSTATE_END);
  return out;
}

std::string Stored(std::string_view bytes, size_t block) {
  std::string out;
  block = std::min<size_t>(block, 65535);
  do {
    const size_t size = std::min(block, bytes.size());
    out += static_cast<char>(size == bytes.size());
    AppendLittleEndian(out, static_cast<uint32_t>(size), 2);
    AppendLittleEndian(out, static_cast<uint32_t>(size ^ 0xffff), 2);
    out += bytes.substr(0, size);
    bytes.remove_prefix(size);
  } while (!bytes.empty());
  return out;
}

uint32_t Crc(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

std::string GzipRecipe::ToString() const {
  return fmt::format("compressor {} level {} strategy {} memory {} full_flush {} flush_first {} block {}",
                     static_cast<int>(compressor), level, strategy, memory, full_flush, flush_first, block);
}

std::string GzipHeader(const GzipHeaderFields& fields) {
  std::string out("\x1f\x8b\x08", 3);
  out += static_cast<char>((fields.checksum ? 2 : 0) | (fields.extra ? 4 : 0) | (fields.name ? 8 : 0) |
                           (fields.comment ? 16 : 0));
  out += std::string("\0\0\0\0\0\x03", 6);
  if (fields.extra) {
    AppendLittleEndian(out, static_cast<uint32_t>(fields.extra->size()), 2);
    out += *fields.extra;
  }
  if (fields.name) out += *fields.name + '\0';
  if (fields.comment) out += *fields.comment + '\0';
  if (fields.checksum) AppendLittleEndian(out, Crc(out), 2);
  return out;
}

std::string GzipTrailer(std::string_view bytes) {
  std::string out;
  AppendLittleEndian(out, Crc(bytes), 4);
  AppendLittleEndian(out, static_cast<uint32_t>(bytes.size()), 4);
  return out;
}

std::string Deflate(std::string_view bytes, const GzipRecipe& recipe) {
  switch (recipe.compressor) {
    case Compressor::kZlib:
      break;
    case Compressor::kZlibFlushing:
      return Flushing(bytes, recipe);
    case Compressor::kPigz:
      return Primed(bytes, recipe);
    case Compressor::kGo:
      return GoLike(bytes, recipe);
    case Compressor::kLibdeflate:
      return ByLibdeflate(bytes, recipe);
    case Compressor::kIgzip:
      return ByIgzip(bytes, recipe);
    case Compressor::kStored:
      return Stored(bytes, recipe.block);
  }
  std::string out;
  ZlibDeflater(recipe).Run(bytes, Z_FINISH, out);
  return out;
}

std::string GzipMember(std::string_view bytes, const GzipRecipe& recipe) {
  return GzipHeader(recipe.header) + Deflate(bytes, recipe) + GzipTrailer(bytes);
}

GzipRecipe RandomRecipe(std::mt19937& random) {
  const auto one_in = [&random](unsigned n) { return random() % n == 0; };
  GzipRecipe recipe;
  recipe.compressor = static_cast<Compressor>(random() % 7);
  recipe.level = 1 + static_cast<int>(random() % 9);
  recipe.strategy = one_in(2) ? 0 : static_cast<int>(random() % 5);
  recipe.memory = 1 + static_cast<int>(random() % 9);
  recipe.full_flush = one_in(2);
  recipe.flush_first = one_in(8);
  recipe.block = size_t{1} << (6 + random() % 11);
  if (one_in(3)) recipe.header.extra = std::string(random() % 400, 'x');
  if (one_in(3)) recipe.header.name = "layer.tar";
  if (one_in(3)) recipe.header.comment = "a comment";
  recipe.header.checksum = one_in(3);
  return recipe;
}

std::string RandomBytes(size_t size, std::mt19937& random) {
  std::string out;
  out.reserve(size + 4096);
  while (out.size() < size) {
    const size_t count = 1 + random() % 4000;
    switch (random() % 5) {
      case 0:  // noise
        for (size_t i = 0; i < count; ++i) out += static_cast<char>(random());
        break;
      case 1:  // few symbols
        for (size_t i = 0; i < count; ++i) out += static_cast<char>('a' + random() % 6);
        break;
      case 2:  // a run
        out.append(count * 8, static_cast<char>(random()));
        break;
      case 3:  // skewed: code lengths of all sizes
        for (size_t i = 0; i < count; ++i)
          out += static_cast<char>(__builtin_ctz(static_cast<unsigned>(random()) | 1 << 20) * 7);
        break;
      default:  // an earlier stretch again
        if (!out.empty()) out += out.substr(random() % out.size(), count);
    }
  }
  out.resize(size);
  return out;
}

}  // namespace soci::test
