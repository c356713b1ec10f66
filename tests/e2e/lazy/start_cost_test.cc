// What stands between a pull request and forty lazy layers in their place, as counts: requests, and calls of the daemon
// that read, write or sync. Nothing of it may grow with the number of files, but for the zTOCs' own bytes.
#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "tests/e2e/support/lazy_start.h"

namespace soci::test {
namespace {

constexpr size_t kLayers = 40;

TestImage ImageOf(size_t files_in_a_layer) {
  TestImage image;
  for (size_t i = 0; i < kLayers; ++i) {
    TarBuilder tar = i == 0 ? BusyboxTar() : TarBuilder();
    const std::string folder = "layer" + std::to_string(i);
    tar.Directory(folder);
    for (size_t j = 0; j < files_in_a_layer; ++j) {
      tar.File(folder + "/file" + std::to_string(j), std::to_string(i * files_in_a_layer + j));
    }
    image.Add(GzipLayer(tar.Finish(), 1));
  }
  return image;
}

struct Cost {
  std::map<std::string, size_t> requests;  // by method and kind, of the daemon
  uint64_t fetched = 0;                    // bytes of bodies
  uint64_t calls = 0;                      // that read or write
  uint64_t bytes = 0;                      // which they read and wrote
};

class StartCost : public LazyStart {
 protected:
  StartCost() : LazyStart(OnDemandOnly()) {}

  void AddCalls(Cost& cost, bool before) const {
    std::ifstream io("/proc/" + std::to_string(daemon_.pid()) + "/io");
    uint64_t value = 0;
    for (std::string key; io >> key >> value;) {
      if (key == "syscr:" || key == "syscw:") cost.calls += before ? -value : value;
      if (key == "rchar:" || key == "wchar:") cost.bytes += before ? -value : value;
    }
  }

  Cost Pull(const std::string& name, size_t files_in_a_layer) {
    const TestImage image = ImageOf(files_in_a_layer);
    const std::string reference = PushIndexed(image, name, {"--min-layer-size=0"});
    registry_.ForgetRequests();
    Cost cost;
    AddCalls(cost, true);
    PullLazily(reference);
    AddCalls(cost, false);
    for (const ImageLayer& layer : image.layers()) EXPECT_EQ(StateOf(layer), "lazy") << daemon_.Log();
    for (const LoggedRequest& request : registry_.LoggedRequests()) {
      if (request.user_agent.find("soci") == std::string::npos) continue;  // containerd's own
      const bool blob = request.path.find("/blobs/") != std::string::npos;
      const bool manifest = request.path.find("/manifests/") != std::string::npos;
      ++cost.requests[request.method + (blob ? " blob" : manifest ? " manifest" : " other")];
      cost.fetched += request.bytes;
    }
    std::string said;
    for (const auto& [kind, count] : cost.requests) said += kind + " " + std::to_string(count) + ", ";
    std::printf("%zu files: %s%zu bytes fetched, %zu calls, %zu bytes\n", kLayers * files_in_a_layer, said.c_str(),
                size_t{cost.fetched}, size_t{cost.calls}, size_t{cost.bytes});
    return cost;
  }
};

TEST_F(StartCost, OfFortyLayersIsTheSameForHundredTimesAsManyFiles) {
  const Cost few = Pull("few", 4);
  const Cost many = Pull("many", 400);
  EXPECT_EQ(few.requests, many.requests);
  size_t requests = 0;
  for (const auto& [kind, count] : many.requests) requests += count;
  EXPECT_LE(requests, kLayers + 7)
      << "a zTOC a layer; manifest and config, for the pull and for us; index and its search";
  EXPECT_LE(few.calls, kLayers * 100);
  EXPECT_LE(many.calls, few.calls * 3 / 2);
}

}  // namespace
}  // namespace soci::test
