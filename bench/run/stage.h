// A registry of the benchmark's own with the images in it: each pushed once, indexed by soci-index, and ready to be
// pulled through a link. Lives for a whole `soci-bench run`.
//
// Failures throw std::runtime_error. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/result/result.h"
#include "bench/run/layer_folder.h"
#include "tests/e2e/support/docker_registry.h"
#include "tests/e2e/support/sandbox.h"

namespace soci {
class RegistryClient;
}

namespace soci::bench {

struct StagedImage {
  std::string name;  // for reports
  std::string path;  // "repository:tag"
  uint64_t bytes = 0, unpacked_bytes = 0;
  // What making its index took, and what came out.
  double index_seconds = 0, index_cpu_seconds = 0;
  uint64_t index_bytes = 0, index_spans = 0;
  size_t layers = 0, indexed_layers = 0;
};

class Stage {
 public:
  using Say = std::function<void(const std::string&)>;

  Stage(std::string programs, Say say);

  // The cost of an image's index, as a scenario of its own.
  static Scenario IndexCost(const StagedImage& image);

  // An image from a folder of layers, see layer_folder.h.
  StagedImage AddFolder(const std::string& folder, const std::stop_token& stop);
  // One from any registry.
  StagedImage AddImage(RegistryClient& from, const std::string& reference, const std::stop_token& stop);

  // Whether "repository:tag" is in the registry.
  bool Has(const std::string& path) const;

  uint16_t port() const { return registry_.port(); }
  std::string host() const { return registry_.host(); }
  // Where this object and the registry keep what they have; there from the beginning, which storage() is not.
  std::string folder() const { return sandbox_.root(); }
  // Where the registry keeps everything.
  std::string storage() const { return sandbox_ / "registry/storage"; }
  // Layers, by their digests' digits, that this image does not have: several large images do not fit into memory.
  std::set<std::string> LayersOfOthers(const std::string& path) const;

 private:
  StagedImage Indexed(std::string name, const PushedImage& pushed, const std::stop_token& stop);
  void WarnOfLittleSpace(const StagedImage& image) const;

  const std::string programs_;
  const Say say_;
  test::Sandbox sandbox_;
  test::DockerRegistry registry_;
  int images_ = 0;
  std::map<std::string, std::vector<std::string>> layers_;  // of each image, by its path
};

}  // namespace soci::bench
