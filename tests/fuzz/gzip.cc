// The gzip decoder against zlib: the same answer on any bytes, and from every checkpoint on the same bytes.
//
// The first byte chooses: the rest is a whole gzip file, or the DEFLATE data of a member whose header and trailer are
// put around it (mutations would otherwise hardly ever get past a checksum).
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "indexer/codec/span_decoder.h"
#include "tests/gzip/gzip_maker.h"
#include "tests/gzip/scanned_gzip.h"
#include "tests/gzip/zlib_oracle.h"

namespace {

using soci::test::OracleAnswer;

// `deflate` up to its end as a member; all of it as a damaged one if it has no end.
std::string Member(std::string_view deflate) {
  z_stream stream = {};
  inflateInit2(&stream, -MAX_WBITS);
  std::string decoded(deflate.size() * 1032 + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(deflate.data()));
  stream.avail_in = static_cast<uInt>(deflate.size());
  stream.next_out = reinterpret_cast<Bytef*>(decoded.data());
  stream.avail_out = static_cast<uInt>(decoded.size());
  const bool ended = inflate(&stream, Z_FINISH) == Z_STREAM_END;
  decoded.resize(decoded.size() - stream.avail_out);
  const size_t used = deflate.size() - stream.avail_in;
  inflateEnd(&stream);
  return soci::test::GzipHeader() + std::string(deflate.substr(0, ended ? used : deflate.size())) +
         soci::test::GzipTrailer(decoded);
}

void Require(bool condition) {
  if (!condition) abort();
}

void DecodeSpans(const std::string& gzip, const OracleAnswer& answer) {
  const auto spans = soci::SpansOf(answer.checkpoints, gzip.size(), answer.decoded.size());
  for (size_t i = 0; i < spans.size(); ++i) {
    const std::string compressed = gzip.substr(spans[i].compressed.begin, spans[i].compressed.size());
    std::string out(spans[i].uncompressed.size(), '?');
    const soci::Status status = soci::DecoderFor(soci::Compression::kGzip)
                                    .Decode(spans[i], soci::AsBytes(answer.windows[i]), soci::AsBytes(compressed),
                                            std::as_writable_bytes(std::span(out)));
    Require(status.ok());
    Require(out == answer.decoded.substr(spans[i].uncompressed.begin, out.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 8192) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string gzip = data[0] % 2 == 0 ? std::string(rest) : Member(rest);
  const uint64_t span_size = data[0] / 2;
  const auto zlib = soci::test::AskZlib(gzip, span_size);
  const auto ours = soci::test::AskOurs(gzip, span_size, 1 + data[0] * 7);
  if (!zlib) {
    Require(!ours.ok());
    return 0;
  }
  if (!ours.ok()) {
    // Where we follow Go's reader and not zlib.
    const std::string_view why = soci::Message(ours.status());
    Require(why == "not a gzip stream (zlib)" || why.find("is too long") != why.npos);
    return 0;
  }
  Require(ours->decoded == zlib->decoded && ours->checkpoints == zlib->checkpoints && ours->windows == zlib->windows);
  DecodeSpans(gzip, *ours);
  return 0;
}
