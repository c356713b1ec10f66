#include "bench/micro/decode/contestants.h"

#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <memory>

#include "indexer/codec/gzip_decoder.h"
#include "indexer/codec/span_decoder.h"
#include "indexer/oci/digest.h"
#include "indexer/ztoc/layer_scanner.h"
#include "tests/gzip/scanned_gzip.h"

namespace soci::bench {
namespace {

constexpr uint64_t kSpanSize = 4 << 20;
constexpr size_t kPiece = 256 << 10;

Bytef* ZlibBytes(const std::string& text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

// All members; `flush` is Z_BLOCK to stop at every block, as zlib-based indexers do.
uint64_t ByZlib(const Sample& sample, int flush) {
  z_stream stream = {};
  inflateInit2(&stream, 31);
  stream.next_in = ZlibBytes(sample.gzip);
  stream.avail_in = static_cast<uInt>(sample.gzip.size());
  static std::vector<Bytef> out(kPiece);
  uint64_t size = 0;
  while (true) {
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    const int outcome = inflate(&stream, flush);
    size += out.size() - stream.avail_out;
    if (outcome == Z_STREAM_END && stream.avail_in > 0) inflateReset(&stream);
    if (outcome == Z_STREAM_END && stream.avail_in == 0) break;
    if (outcome != Z_OK && outcome != Z_STREAM_END) break;
  }
  inflateEnd(&stream);
  return size;
}

template <typename Sink>
uint64_t ByIsal(const Sample& sample, Sink sink) {
  static const auto state = std::make_unique<inflate_state>();
  static std::vector<uint8_t> out(kPiece);
  uint64_t size = 0;
  isal_inflate_init(state.get());
  state->next_in = ZlibBytes(sample.gzip);
  state->avail_in = static_cast<uint32_t>(sample.gzip.size());
  while (true) {
    state->crc_flag = ISAL_GZIP;
    do {
      state->next_out = out.data();
      state->avail_out = static_cast<uint32_t>(out.size());
      if (isal_inflate(state.get()) != ISAL_DECOMP_OK) return size;
      const size_t made = out.size() - state->avail_out;
      sink(std::as_bytes(std::span(out).first(made)));
      size += made;
    } while (state->block_state != ISAL_BLOCK_FINISH);
    if (state->avail_in == 0) return size;
    isal_inflate_reset(state.get());
  }
}

// The whole output at once: it has no other way.
uint64_t ByLibdeflate(const Sample& sample, std::vector<std::byte>& out) {
  static libdeflate_decompressor* const decompressor = libdeflate_alloc_decompressor();
  if (out.size() < sample.decoded_size) out.assign(sample.decoded_size, std::byte{1});
  uint64_t size = 0;
  std::string_view rest = sample.gzip;
  while (!rest.empty()) {
    size_t used = 0;
    size_t made = 0;
    if (libdeflate_gzip_decompress_ex(decompressor, rest.data(), rest.size(), out.data() + size, out.size() - size,
                                      &used, &made) != LIBDEFLATE_SUCCESS) {
      break;
    }
    rest.remove_prefix(used);
    size += made;
  }
  return size;
}

std::vector<std::byte>& LargeBuffer() {
  static std::vector<std::byte> buffer;
  return buffer;
}

class Ignore final : public GzipDecoder::Observer {
 public:
  Status OnCompressed(ByteSpan) override { return OkStatus(); }
  Status OnCheckpoint(const Checkpoint&, ByteSpan) override { return OkStatus(); }
  Status OnMember(MemberKind) override { return OkStatus(); }
};

uint64_t ByOurs(const Sample& sample, GzipDecoder::Observer* observer) {
  test::TextStream stream(sample.gzip);
  GzipDecoder decoder(stream, kSpanSize, observer);
  uint64_t size = 0;
  while (true) {
    const Result<ByteSpan> piece = decoder.Next();
    if (!piece.ok() || piece->empty()) return size;
    size += piece->size();
  }
}

uint64_t HashedByIsal(const Sample& sample) {
  oci::Hasher hasher;
  const uint64_t size = ByIsal(sample, [&hasher](ByteSpan bytes) { hasher.Update(bytes); });
  hasher.Finish();
  return size;
}

uint64_t HashedByLibdeflate(const Sample& sample) {
  const uint64_t size = ByLibdeflate(sample, LargeBuffer());
  oci::Digest::Of(ByteSpan(LargeBuffer()).first(size));
  return size;
}

uint64_t Scan(const Sample& sample) {
  test::TextStream stream(sample.gzip);
  const Result<ScannedLayer> scanned = ScanLayer(stream, Compression::kGzip, {.span_size = kSpanSize});
  return scanned.ok() ? sample.decoded_size : 0;
}

// Every span by itself, from an index that is made once.
uint64_t DecodeSpans(const Sample& sample) {
  static std::string indexed_name;
  static test::OracleAnswer index;
  if (indexed_name != sample.name) {
    index = *test::AskOurs(sample.gzip, kSpanSize);
    index.decoded = {};
    indexed_name = sample.name;
  }
  uint64_t size = 0;
  const auto spans = SpansOf(index.checkpoints, sample.gzip.size(), sample.decoded_size);
  std::vector<std::byte>& out = LargeBuffer();
  for (size_t i = 0; i < spans.size(); ++i) {
    const uint64_t span_size = spans[i].uncompressed.size();
    if (out.size() < span_size) out.resize(span_size);
    const Status status =
        DecoderFor(Compression::kGzip)
            .Decode(spans[i], AsBytes(index.windows[i]),
                    AsBytes(sample.gzip).subspan(spans[i].compressed.begin, spans[i].compressed.size()),
                    MutableByteSpan(out).first(span_size));
    if (status.ok()) size += span_size;
  }
  return size;
}

}  // namespace

std::vector<Contestant> Contestants() {
  return {{"zlib", [](const Sample& s) { return ByZlib(s, Z_NO_FLUSH); }},
          {"zlib, stopping at every block", [](const Sample& s) { return ByZlib(s, Z_BLOCK); }},
          {"ISA-L, streaming", [](const Sample& s) { return ByIsal(s, [](ByteSpan) {}); }},
          {"libdeflate, whole output in memory", [](const Sample& s) { return ByLibdeflate(s, LargeBuffer()); }},
          {"ours", [](const Sample& s) { return ByOurs(s, nullptr); }},
          {"ours, with checkpoints",
           [](const Sample& s) {
             Ignore ignore;
             return ByOurs(s, &ignore);
           }},
          {"ours, span by span", DecodeSpans},
          {"ISA-L + SHA-256", HashedByIsal},
          {"libdeflate + SHA-256", HashedByLibdeflate},
          {"layer scanner (all of indexing)", Scan}};
}

}  // namespace soci::bench
