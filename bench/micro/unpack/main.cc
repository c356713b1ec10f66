// bench_unpack: what a full pull of our own costs once the bytes are here: decode, both digests, files, table.
//
// Core-seconds of all threads and wall time of each run; a busy machine disturbs the second only. `perf stat -e
// instructions:u` around it counts what no other program can disturb.
#include <fcntl.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <ctime>

#include "indexer/base/byte_source.h"
#include "indexer/base/file_io.h"
#include "indexer/codec/detect.h"
#include "indexer/codec/stream_decoder.h"
#include "snapshotter/unpack/ordered_download.h"
#include "snapshotter/unpack/unpack_layer.h"

namespace soci::bench {
namespace {

double CoreSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Names {
  oci::LayerDigest layer;
  oci::DiffId diff_id;
};

Result<Names> NamesOf(const ByteSource& blob) {
  oci::Hasher layer, tar;
  const auto each = [](ByteStream& stream, oci::Hasher& hasher) -> Status {
    ByteBuffer buffer(1 << 20);
    while (true) {
      SOCI_ASSIGN_OR_RETURN(const size_t count, stream.Read(buffer));
      if (count == 0) return OkStatus();
      hasher.Update(ByteSpan(buffer).first(count));
    }
  };
  std::byte first[kDetectSize];
  const MutableByteSpan head = MutableByteSpan(first).first(std::min<uint64_t>(blob.size(), kDetectSize));
  SOCI_RETURN_IF_ERROR(blob.ReadAt(0, head, {}));
  SOCI_RETURN_IF_ERROR(each(*MakeSourceStream(blob, {}), layer));
  const auto stream = MakeSourceStream(blob, {});
  const auto decoded = DecodeStream(*stream, DetectCompression(head).value_or(StreamFormat::kPlainTar));
  SOCI_RETURN_IF_ERROR(each(*decoded, tar));
  return Names{oci::LayerDigest(layer.Finish()), oci::DiffId(tar.Finish())};
}

Status Measure(const std::string& path, const std::string& below, int repeats) {
  SOCI_ASSIGN_OR_RETURN(const auto blob, OpenFileSource(path));
  SOCI_ASSIGN_OR_RETURN(const Names names, NamesOf(*blob));
  const std::string folder = below + "/bench-unpack";
  for (int repeat = 0; repeat < repeats; ++repeat) {
    SOCI_RETURN_IF_ERROR(RemoveTree(folder));
    SOCI_RETURN_IF_ERROR(MakeDirectories(folder, 0700));
    DownloadWindow window({});
    const double cores = CoreSeconds();
    const auto begin = std::chrono::steady_clock::now();
    const auto unpacked = UnpackLayer(*blob, {names.layer, names.diff_id, true}, folder, window, {});
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    SOCI_RETURN_IF_ERROR(unpacked.status());
    fmt::print("{:.2f} s, {:.2f} core-seconds\n", wall.count(), CoreSeconds() - cores);
  }
  return RemoveTree(folder);
}

int Main(int count, char** arguments) {
  CLI::App app{"Unpacks a layer's blob as the daemon does, without network."};
  std::string path, below = "/var/tmp";
  int repeats = 3;
  app.add_option("BLOB", path, "the layer as stored")->required();
  app.add_option("--below", below, "a folder on the file system to write to");
  app.add_option("--repeats", repeats, "runs")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, count, arguments);
  const Status measured = Measure(path, below, repeats);
  if (measured.ok()) return 0;
  fmt::print(stderr, "{}: {}\n", path, Message(measured));
  return 1;
}

}  // namespace
}  // namespace soci::bench

int main(int count, char** arguments) { return soci::bench::Main(count, arguments); }
