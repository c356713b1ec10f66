// The fixture of tests with a host that trusts published records, and with records that tests make up.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "indexer/base/file_io.h"
#include "indexer/record/record_builder.h"
#include "indexer/record/record_codec.h"
#include "tests/e2e/support/lazy_start.h"
#include "tests/support/free_port.h"

namespace soci::test {

class PublishedRecord : public LazyStart {
 protected:
  explicit PublishedRecord(const std::string& trust = "published")
      : PublishedRecord("127.0.0.1:" + std::to_string(FreePort()), trust) {}
  PublishedRecord(const std::string& address, const std::string& trust)
      : LazyStart([&] {
          std::vector<std::string> flags = OnDemandOnly();
          // It is one host that finds none, publishes one and looks again.
          flags.push_back("--index.negative_ttl=1ms");
          flags.insert(flags.end(),
                       {"--record.enabled=false", "--replay.trust=" + trust, "--service.metrics=" + address});
          return flags;
        }()),
        address_(address) {}

  double Value(const std::string& name) const { return MetricValue(address_, name); }
  double Replayed() const { return Value("soci_fetched_spans_total{class=\"replay\"}"); }
  static TestImage Image() {
    TarBuilder tar;
    tar.Directory("app");
    for (int i = 0; i < 40; ++i) tar.File("app/" + std::to_string(i), NoiseBytes(80'000, static_cast<uint64_t>(i)));
    return TestImage().Add(GzipLayer(BusyboxTar().Finish())).Add(GzipLayer(tar.Finish()));
  }
  static std::vector<std::string> Program() { return {"sh", "-c", "for i in 36 27 18 9 3; do cat /app/$i; done"}; }

  // What a build pipeline does, on this host as well; which then forgets the image and its own record.
  void MakeAndPublish(const std::string& reference) {
    std::vector<std::string> line = RecordLine({"--out", file_, reference, "--"});
    for (const std::string& word : Program()) line.push_back(word);
    const CommandResult recorded = RunCommand(line, std::chrono::seconds(60), containerd_.Options());
    ASSERT_EQ(recorded.exit_code, 0) << daemon_.Log();
    Publish(reference);
    ASSERT_EQ(Failure(containerd_.RemoveImage(reference)), "");
    ASSERT_TRUE(WaitUntil([&] { return Value("soci_spans") == 0; })) << daemon_.Log();
    std::filesystem::remove_all(daemon_.state() + "/records");
  }
  void Publish(const std::string& reference) {
    const CommandResult pushed =
        RunCommand({Daemon::Program("soci-index"), "record", "push", "--plain-http", reference, file_});
    ASSERT_EQ(Failure(pushed), "");
  }
  // A sound record of an image, of files as these say.
  struct Claim {
    std::string path;
    uint64_t size;
  };
  void Write(const TestImage& image, const std::vector<Claim>& claims, const std::string& file) {
    std::vector<oci::LayerDigest> layers;
    for (const ImageLayer& layer : image.layers()) layers.emplace_back(layer.digest);
    RecordBuilder builder(image.digest(), layers);
    uint64_t now = 0;
    for (const Claim& claim : claims) builder.Add(layers.back(), claim.path, claim.size, 0, claim.size, now += 1'000);
    const auto bytes = EncodeRecord(builder.Build());
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    ASSERT_TRUE(WriteFileAtomic(file, *bytes).ok());
  }

  const std::string file_ = sandbox_ / "app.record";

 private:
  const std::string address_;
};

}  // namespace soci::test
