// bench_decode: how fast gzip is decoded, with checkpoints and without, and how much indexing adds to it.
//
// Core-seconds, all threads counted, of interleaved runs: a busy machine then disturbs all alike. The best run counts.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>

#include "bench/micro/decode/contestants.h"
#include "bench/micro/decode/samples.h"

namespace soci::bench {
namespace {

double CoreSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void Measure(const Sample& sample, int repeats) {
  const std::vector<Contestant> contestants = Contestants();
  std::vector<double> best(contestants.size(), 1e9);
  std::vector<bool> right(contestants.size(), true);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (size_t i = 0; i < contestants.size(); ++i) {
      const double begin = CoreSeconds();
      right[i] = contestants[i].run(sample) == sample.decoded_size;
      best[i] = std::min(best[i], CoreSeconds() - begin);
    }
  }
  fmt::print("\n{}: {:.1f} MB, {:.1f} MB decoded\n\n| | MB/s of output | core-seconds |\n|---|---|---|\n", sample.name,
             static_cast<double>(sample.gzip.size()) / 1e6, static_cast<double>(sample.decoded_size) / 1e6);
  for (size_t i = 0; i < contestants.size(); ++i) {
    fmt::print("| {} | {} | {:.3f} |\n", contestants[i].name,
               right[i] ? fmt::format("{:.0f}", static_cast<double>(sample.decoded_size) / 1e6 / best[i]) : "failed",
               best[i]);
  }
}

int Main(int count, char** arguments) {
  CLI::App app{"Compares gzip decoders side by side, with and without checkpoints."};
  std::vector<std::string> paths;
  int repeats = 7;
  app.add_option("FILE", paths, "gzip layers to measure with (default: samples made from this machine's files)");
  app.add_option("--repeats", repeats, "runs of each, interleaved")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, count, arguments);
  std::vector<Sample> samples = paths.empty() ? MakeSamples(64 << 20) : std::vector<Sample>();
  for (const std::string& path : paths) {
    Result<Sample> sample = ReadSample(path);
    if (!sample.ok()) {
      fmt::print(stderr, "{}: {}\n", path, Message(sample.status()));
      return 1;
    }
    samples.push_back(*std::move(sample));
  }
  for (const Sample& sample : samples) Measure(sample, repeats);
  return 0;
}

}  // namespace
}  // namespace soci::bench

int main(int count, char** arguments) { return soci::bench::Main(count, arguments); }
