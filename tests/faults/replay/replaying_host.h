// One machine that reads an image of two layers from a scripted registry by all the parts that the daemon has, FUSE
// apart: client, fetchers, stores, readers, recorder, replay. What a registry makes one wait for costs no time.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fuse/fetch/fetch_scheduler.h"
#include "fuse/fetch/make_layer_fetcher.h"
#include "fuse/layer/first_reads.h"
#include "fuse/layer/make_layer_reader.h"
#include "fuse/layer/program_clock.h"
#include "fuse/store/layer_store.h"
#include "snapshotter/replay/image_replay.h"
#include "snapshotter/replay/recorder.h"
#include "tests/faults/registry/scenario.h"
#include "tests/layers/indexed_layer.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {

inline constexpr char kImage[] = "team/image";
inline constexpr int kFiles = 40;  // of each layer
inline constexpr uint64_t kFileSize = 60'000;

// A file of the image: its layer and number. A program is the files that it reads, in order.
using File = std::pair<int, int>;
using Program = std::vector<File>;

inline std::string PathOf(const File& file) { return "app/" + std::to_string(file.second); }
inline std::string ContentOf(const File& file) {
  return NoiseBytes(kFileSize, static_cast<uint64_t>(file.first * 1000 + file.second));
}

// The layers as they lie in the registry; made once, as making them is what takes the time.
inline const std::vector<IndexedLayer>& ImageLayers() {
  static const std::vector<IndexedLayer> layers = [] {
    std::vector<IndexedLayer> made;
    for (int layer = 0; layer < 2; ++layer) {
      TarBuilder tar;
      tar.Directory("app");
      for (int i = 0; i < kFiles; ++i) tar.File(PathOf({layer, i}), ContentOf({layer, i}));
      made.push_back(MakeIndexedLayer(tar.Finish(), {.span_size = 64 << 10}));
    }
    return made;
  }();
  return layers;
}
inline oci::Digest ImageManifest() { return oci::Digest::Of("the image"); }

class ReplayingHost {
 public:
  struct Options {
    HostBudget connections;
    std::chrono::milliseconds budget = std::chrono::seconds(60);
    RegistryClientOptions client;
  };

  explicit ReplayingHost(ScriptedRegistry& registry) : ReplayingHost(registry, Options()) {}
  ReplayingHost(ScriptedRegistry& registry, const Options& options)
      : machine_(MakeAnonymousCredentials(), options.client),
        scheduler_(SystemClock(), {.connections = options.connections}) {
    for (const IndexedLayer& indexed : ImageLayers()) {
      layers_.emplace_back(*this, registry, indexed, registry.AddBlob(kImage, indexed.blob), options);
    }
  }
  ~ReplayingHost() {
    for (Layer& layer : layers_) {
      recorder_.LayerClosing(layer.watched().layer);
      if (replay_ != nullptr) replay_->Leave(layer.watched().layer);
    }
  }

  const Clock& clock() const { return SystemClock(); }
  ProgramClock& program() { return program_; }
  Machine& machine() { return machine_; }
  std::string folder() const { return folder_.path(); }
  std::vector<WatchedLayer> watched() const {
    std::vector<WatchedLayer> all;
    for (const Layer& layer : layers_) all.push_back(layer.watched());
    return all;
  }

  // The bytes, or the error.
  std::string Read(const File& file) {
    Gate answered;
    std::string got;
    StartRead(file, [&](std::string bytes) {
      got = std::move(bytes);
      answered.Open();
    });
    answered.Wait();
    return got;
  }
  void StartRead(const File& file, std::function<void(std::string)> done) {
    Layer& layer = layers_[static_cast<size_t>(file.first)];
    const LayerTable& table = *layer.table;
    const InodeId folder = *table.Lookup(InodeId::kRoot, "app");
    layer.reader->Read(*table.Lookup(folder, std::to_string(file.second)), 0, kFileSize,
                       [done = std::move(done)](Result<ByteSpan> bytes) {
                         done(bytes.ok() ? std::string(AsText(*bytes)) : bytes.status().ToString());
                       });
  }
  // Until so many transfers have failed.
  void WaitForFailures(uint64_t count) {
    const auto& failed = scheduler_.counters().faults[static_cast<size_t>(FetchFault::kNetwork)];
    while (failed < count) std::this_thread::yield();
  }
  // How many files came out wrong.
  int Run(const Program& program) {
    int wrong = 0;
    for (const File& file : program) wrong += Read(file) == ContentOf(file) ? 0 : 1;
    return wrong;
  }

  // Runs the program and says what it needed.
  Record MakeRecord(const Program& program) {
    std::vector<oci::LayerDigest> layers;
    for (const IndexedLayer& layer : ImageLayers()) layers.push_back(layer.digest);
    recorder_.Start({kImage, ImageManifest(), layers}, watched());
    Run(program);
    recorder_.Finish(std::nullopt);
    return std::move(recorded_);
  }

  // `window`: in bytes; 1 makes it take one step after the other.
  ImageReplay& Replay(const Record& record, uint64_t window = 24 << 20) {
    ImageReplay::Options options;
    options.window = window;
    replay_ = std::make_shared<ImageReplay>(kImage, record, clock(), program_, options);
    for (const WatchedLayer& layer : watched()) replay_->Join(layer);
    return *replay_;
  }
  void WaitForReplay() const {
    while (!replay_->ended()) std::this_thread::yield();
  }

 private:
  struct Layer {
    Layer(ReplayingHost& host, const ScriptedRegistry& registry, const IndexedLayer& layer, const oci::Descriptor& blob,
          const Options& options)
        : table(layer.table),
          source(host.machine_.Open(registry, kImage, blob)),
          store(*LayerStore::Open(host.folder_ / layer.digest.Hex(), table, host.files_)),
          reads(std::make_unique<FirstReads>(table)) {
      LayerFetcherOptions fetch;
      fetch.host = registry.host();
      fetch.budget = options.budget;
      fetcher = MakeLayerFetcher(host.scheduler_, table, *source, *store, fetch);
      // Nothing is guessed: what is asked for is needed, or recorded.
      reader = MakeLayerReader(table, *store, *fetcher, host.io_pool_, {.window = 0, .neighbours = 0},
                               {reads.get(), &host.program_});
    }
    WatchedLayer watched() const { return {table->layer(), table, store.get(), fetcher.get(), reads.get()}; }

    std::shared_ptr<const LayerTable> table;
    std::unique_ptr<ByteSource> source;
    std::unique_ptr<LayerStore> store;
    std::unique_ptr<LayerFetcher> fetcher;
    std::unique_ptr<FirstReads> reads;
    std::unique_ptr<LayerReader> reader;
  };

  TemporaryDirectory folder_;
  Machine machine_;
  FdCache files_;
  ThreadPool io_pool_{"io", 2};
  ProgramClock program_{SystemClock()};
  FetchScheduler scheduler_;
  std::deque<Layer> layers_;
  Record recorded_;
  Recorder recorder_{program_, {}, [this](const std::string&, const Record& record) { recorded_ = record; }};
  std::shared_ptr<ImageReplay> replay_;
};

}  // namespace soci::test
