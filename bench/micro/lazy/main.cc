// bench_lazy: what a lazy layer costs from the wire to the page cache, beside inflating the same bytes and nothing
// else.
//
// The whole way is the daemon's own: scheduler, fetcher, digest, decode, checks, store; the source is memory, so curl
// and the kernel's network are not in it. Each part is measured by itself too, on one thread. Core-seconds of all
// threads (user and system), everything once in each turn, so that a busy machine disturbs all alike; medians.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <future>
#include <map>

#include "fuse/fetch/fetch_scheduler.h"
#include "fuse/fetch/make_layer_fetcher.h"
#include "fuse/fetch/range_assembler.h"
#include "fuse/fetch/verified_decode.h"
#include "fuse/store/layer_store.h"
#include "indexer/base/crc32c.h"
#include "indexer/base/file_io.h"
#include "indexer/codec/detect.h"
#include "indexer/table/table_compiler.h"
#include "indexer/ztoc/layer_scanner.h"
#include "indexer/ztoc/ztoc.h"

namespace soci::bench {
namespace {

constexpr size_t kPieceOfTheWire = 16 << 10;  // what curl hands on at a time

struct CoreTime {
  double user = 0, system = 0;
  double all() const { return user + system; }
};

// Of this process, all threads.
CoreTime Now() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Layer {
  std::unique_ptr<ByteSource> source;
  std::string blob;
  std::shared_ptr<const LayerTable> table;
  oci::DiffId diff_id;

  ByteSpan Compressed(SpanId span) const {
    const CompressedRange range = table->Extent(span).compressed;
    return AsBytes(blob).subspan(range.begin, range.size());
  }
};

Result<Layer> Index(const std::string& path) {
  Layer layer;
  SOCI_ASSIGN_OR_RETURN(layer.blob, ReadFile(path, size_t{8} << 30));
  layer.source = MakeMemorySource(layer.blob);
  const auto stream = MakeSourceStream(*layer.source, {});
  SOCI_ASSIGN_OR_RETURN(ScannedLayer scanned, ScanLayer(*stream, Compression::kGzip, {}));
  SOCI_ASSIGN_OR_RETURN(const std::string ztoc, EncodeZtoc(std::move(scanned.ztoc)));
  SOCI_ASSIGN_OR_RETURN(const ZtocView view, ViewZtoc(ztoc));
  SOCI_ASSIGN_OR_RETURN(std::string table, CompileTable(view, scanned.layer));
  SOCI_ASSIGN_OR_RETURN(layer.table, LayerTable::FromBytes(std::move(table), scanned.layer));
  layer.diff_id = scanned.diff_id;
  return layer;
}

class Bench {
 public:
  Bench(const Layer& layer, std::string below) : layer_(layer), folder_(std::move(below) + "/bench-lazy") {}

  Status Turn() {
    SOCI_RETURN_IF_ERROR(Measure("inflate alone", [this] { return InflateAll(); }));
    SOCI_RETURN_IF_ERROR(Measure("whole way", [this] { return WholeWay(); }));
    SOCI_RETURN_IF_ERROR(Measure("part: cut the wire into spans", [this] { return Assemble(); }));
    SOCI_RETURN_IF_ERROR(Measure("part: span digests", [this] { return Digests(); }));
    SOCI_RETURN_IF_ERROR(Parts());
    return RemoveTree(folder_);
  }

  void Print() const {
    const double gigabytes = static_cast<double>(layer_.table->uncompressed_size()) / 1e9;
    const double inflate = Middle("inflate alone");
    fmt::print("\n{:.0f} MB, {:.0f} MB decoded, {} spans, {} files; core-seconds per decoded GB\n\n",
               static_cast<double>(layer_.blob.size()) / 1e6, gigabytes * 1e3, layer_.table->span_count(),
               layer_.table->content_count());
    fmt::print("| | user + system | of it system |\n|---|---|---|\n");
    for (const std::string& name : order_) {
      fmt::print("| {} | {:.3f} | {:.3f} |\n", name, Middle(name) / gigabytes, Median(system_.at(name)) / gigabytes);
    }
    const double budget = 1.3 * inflate / gigabytes + 0.7;
    fmt::print(
        "\nwhole way: {:.2f} times inflate alone; {:.2f} per GB where the budget (1.3 times, and 0.7) is {:.2f}\n",
        Middle("whole way") / inflate, Middle("whole way") / gigabytes, budget);
    fmt::print("hashed on the way: {:.0f} of {:.0f} MB, {:.0f} MB of them read back\n", Median(hashed_) / 1e6,
               gigabytes * 1e3, Median(read_back_) / 1e6);
  }

 private:
  Status Measure(const std::string& name, const std::function<Status()>& what) {
    const CoreTime begin = Now();
    const Status status = what();
    const CoreTime end = Now();
    Note(name, {end.user - begin.user, end.system - begin.system});
    return Annotate(status, name);
  }
  void Note(const std::string& name, const CoreTime& time) {
    if (all_.count(name) == 0) order_.push_back(name);
    all_[name].push_back(time.all());
    system_[name].push_back(time.system);
  }
  double Middle(const std::string& name) const { return Median(all_.at(name)); }

  Status InflateAll() {
    for (SpanId span{0}; ToIndex(span) < layer_.table->span_count(); span = Next(span)) {
      SOCI_RETURN_IF_ERROR(
          DecodeMatching(*layer_.table, DecoderFor(Compression::kGzip), span, layer_.Compressed(span)).status());
    }
    return OkStatus();
  }

  Status Digests() {
    for (SpanId span{0}; ToIndex(span) < layer_.table->span_count(); span = Next(span)) {
      if (!MatchesDigest(*layer_.table, span, layer_.Compressed(span))) return absl::DataLossError("a digest");
    }
    return OkStatus();
  }

  // As the transfers of a fill do it, 8 MiB a range.
  Status Assemble() {
    std::vector<CompressedRange> ranges;
    uint64_t size = 0;
    const auto flush = [&]() -> Status {
      if (ranges.empty()) return OkStatus();
      RangeAssembler assembler(std::exchange(ranges, {}));
      size = 0;
      const CompressedRange range = assembler.range();
      for (uint64_t at = range.begin; at < range.end; at += kPieceOfTheWire) {
        const uint64_t count = std::min<uint64_t>(kPieceOfTheWire, range.end - at);
        SOCI_RETURN_IF_ERROR(assembler.Push(AsBytes(layer_.blob).subspan(at, count), [](size_t, CompressedBytes) {}));
      }
      return OkStatus();
    };
    for (SpanId span{0}; ToIndex(span) < layer_.table->span_count(); span = Next(span)) {
      const CompressedRange range = layer_.table->Extent(span).compressed;
      if (!ranges.empty() && (size >= 8 << 20 || !RangeAssembler::Joins(ranges.back(), range))) {
        SOCI_RETURN_IF_ERROR(flush());
      }
      ranges.push_back(range);
      size += range.size();
    }
    return flush();
  }

  // Span by span in order, each step by itself.
  Status Parts() {
    SOCI_RETURN_IF_ERROR(RemoveTree(folder_));
    FdCache files;
    SOCI_ASSIGN_OR_RETURN(const auto store, LayerStore::Open(folder_, layer_.table, files));
    std::map<std::string, CoreTime> sums;
    CoreTime last;
    const auto lap = [&](const std::string& name) {
      const CoreTime now = Now();
      sums[name].user += now.user - last.user;
      sums[name].system += now.system - last.system;
      last = now;
    };
    for (SpanId span{0}; ToIndex(span) < layer_.table->span_count(); span = Next(span)) {
      SOCI_ASSIGN_OR_RETURN(const auto decoded, DecodeMatching(*layer_.table, DecoderFor(Compression::kGzip), span,
                                                               layer_.Compressed(span)));
      last = Now();
      SOCI_RETURN_IF_ERROR(store->CheckSpan(span, decoded->view()));
      lap("part: windows and headers");
      (void)Crc32c(decoded->view());
      lap("part: CRC-32C");
      (void)oci::Digest::Of(decoded->view());
      lap("part: SHA-256 of the tar");
      SOCI_RETURN_IF_ERROR(store->WriteSpan(span, decoded->view()));
      lap("part: write, with CRC and SHA");
    }
    last = Now();
    SOCI_RETURN_IF_ERROR(store->Seal({layer_.diff_id}));
    lap("afterwards: seal");
    for (const auto& [name, time] : sums) Note(name, time);
    return OkStatus();
  }

  Status WholeWay() {
    SOCI_RETURN_IF_ERROR(RemoveTree(folder_));
    FdCache files;
    SOCI_ASSIGN_OR_RETURN(const auto store, LayerStore::Open(folder_, layer_.table, files));
    FetchScheduler scheduler(SystemClock(), {});
    LayerFetcherOptions options;
    options.host = "memory";
    const auto fetcher = MakeLayerFetcher(scheduler, layer_.table, *layer_.source, *store, options);
    std::promise<void> complete;
    fetcher->StartFill([&] { complete.set_value(); });
    complete.get_future().wait();
    hashed_.push_back(static_cast<double>(store->hashed_bytes()));
    read_back_.push_back(static_cast<double>(store->read_back_bytes()));
    return OkStatus();
  }

  const Layer& layer_;
  const std::string folder_;
  std::vector<std::string> order_;
  std::map<std::string, std::vector<double>> all_, system_;
  std::vector<double> hashed_, read_back_;
};

Status Run(const std::string& path, const std::string& below, int repeats) {
  SOCI_ASSIGN_OR_RETURN(const Layer layer, Index(path));
  Bench bench(layer, below);
  for (int i = 0; i < repeats; ++i) SOCI_RETURN_IF_ERROR(bench.Turn());
  bench.Print();
  return OkStatus();
}

int Main(int count, char** arguments) {
  CLI::App app{"Fills a gzip layer from memory as the daemon does, and measures what it costs, whole and in parts."};
  std::string path, below = "/var/tmp";
  int repeats = 5;
  app.add_option("BLOB", path, "the layer as stored")->required();
  app.add_option("--below", below, "a folder on the file system to write to");
  app.add_option("--repeats", repeats, "turns")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, count, arguments);
  const Status measured = Run(path, below, repeats);
  if (measured.ok()) return 0;
  fmt::print(stderr, "{}: {}\n", path, Message(measured));
  return 1;
}

}  // namespace
}  // namespace soci::bench

int main(int count, char** arguments) { return soci::bench::Main(count, arguments); }
