#include "tests/gzip/zlib_oracle.h"

#include <zlib.h>

#include <memory>

namespace soci::test {
namespace {

constexpr int kAnyMember = 47;  // a window of 32 KiB, gzip or zlib header

std::string LastWindow(const std::string& decoded) {
  if (decoded.size() >= kWindowSize) return decoded.substr(decoded.size() - kWindowSize);
  return std::string(kWindowSize - decoded.size(), '\0') + decoded;
}

}  // namespace

std::optional<OracleAnswer> AskZlib(std::string_view gzip, uint64_t span_size) {
  z_stream stream = {};
  if (inflateInit2(&stream, kAnyMember) != Z_OK) return std::nullopt;
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  OracleAnswer answer;
  uint64_t last = 0;
  char buffer[65536];
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    const uInt before = stream.avail_in;
    const int outcome = inflate(&stream, Z_BLOCK);
    const size_t made = sizeof buffer - stream.avail_out;
    answer.decoded.append(buffer, made);
    if (outcome == Z_STREAM_END) {
      if (stream.avail_in == 0) return answer;
      inflateReset2(&stream, kAnyMember);
      continue;
    }
    const bool at_block = (stream.data_type & 128) != 0 && (stream.data_type & 64) == 0;
    if (outcome != Z_OK || (made == 0 && before == stream.avail_in && !at_block)) return std::nullopt;
    const uint64_t size = answer.decoded.size();
    if (at_block && (size == 0 || size - last > span_size)) {
      last = size;
      answer.checkpoints.push_back({.compressed = gzip.size() - stream.avail_in,
                                    .uncompressed = size,
                                    .bits = static_cast<uint8_t>(stream.data_type & 7)});
      answer.windows.push_back(LastWindow(answer.decoded));
    }
  }
}

}  // namespace soci::test
