#include "bench/image/tree.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "bench/image/layer_builder.h"

namespace soci::bench {
namespace {

constexpr uint64_t kModelPercent = 12, kDataPercent = 8, kBasePercent = 5;
constexpr char kSitePackages[] = "opt/conda/lib/python3.11/site-packages";

std::string Numbered(uint64_t number, const std::string& name) {
  return (number < 10 ? "0" : "") + std::to_string(number) + "-" + name;
}

class Planner {
 public:
  explicit Planner(const ImageRecipe& recipe) : recipe_(recipe) {}

  std::vector<PlannedLayer> Plan() {
    const uint64_t packages = recipe_.layers - 6;  // all but base, dominant, model, data, clean-up and program
    const uint64_t before = (packages + 1) / 2;
    Base();
    for (uint64_t i = 0; i < packages; ++i) {
      if (i == before) Dominant();
      Package(i, packages);
    }
    if (before == packages) Dominant();
    Model();
    LayerBuilder data = Begin("data");
    data.DataSet("data/train", Percent(recipe_.bytes, kDataPercent), Percent(recipe_.files, 10));
    End(data);
    CleanUp();
    return std::move(layers_);
  }

 private:
  static uint64_t Percent(uint64_t value, uint64_t percent) {
    return value / 100 * percent + value % 100 * percent / 100;
  }

  LayerBuilder Begin(const std::string& name) {
    return {Numbered(layers_.size(), name), Mix(recipe_.seed + 1000 * (layers_.size() + 1))};
  }
  void End(LayerBuilder& builder) { layers_.push_back(builder.Finish()); }

  void Base() {
    LayerBuilder base = Begin("base");
    for (const char* folder : {"dev", "etc", "proc", "run", "sys", "tmp", "usr/bin", "var/cache/apt"}) {
      base.Directory(folder);
    }
    base.Packages("usr/lib/python3", Percent(recipe_.bytes, kBasePercent), Percent(recipe_.files, 20));
    End(base);
  }

  void Dominant() {
    LayerBuilder dominant = Begin("dominant");
    dominant.Packages(kSitePackages, Percent(recipe_.bytes, recipe_.dominant_percent), Percent(recipe_.files, 25));
    End(dominant);
  }

  // Large ones and small ones: each has a share of 1/2, 1/3, 1/4 ... of the first.
  void Package(uint64_t number, uint64_t count) {
    uint64_t shares = 0;
    for (uint64_t i = 0; i < count; ++i) shares += 1'000'000 / (i + 1);
    const uint64_t share = 1'000'000 / (number + 1);
    const uint64_t rest = 100 - kModelPercent - kDataPercent - kBasePercent - recipe_.dominant_percent;
    const uint64_t bytes = Percent(recipe_.bytes, rest) / shares * share;
    LayerBuilder package = Begin("package");
    package.Packages(kSitePackages, bytes - bytes / 25, Percent(recipe_.files, 45) * share / shares);
    // What an installer leaves behind, for the clean-up.
    package.File("var/cache/apt/archive-" + std::to_string(number) + ".deb", bytes / 25);
    package.File("tmp/install-" + std::to_string(number) + ".log", 2000);
    End(package);
    packages_ = number + 1;
  }

  void Model() {
    LayerBuilder model = Begin("model");
    model.File("models/model.safetensors", Percent(recipe_.bytes, kModelPercent));
    model.File("models/tokenizer.json", recipe_.bytes / 1000);
    End(model);
  }

  void CleanUp() {
    LayerBuilder clean = Begin("clean-up");
    clean.Directory("var/cache/apt");
    clean.Add({TreeEntry::Type::kOpaque, "var/cache/apt"});
    for (uint64_t i = 0; i < packages_; ++i) {
      clean.Add({TreeEntry::Type::kWhiteout, "tmp/install-" + std::to_string(i) + ".log"});
    }
    // Replaced: with a page more, to be told from what it was.
    for (const PlannedLayer& layer : layers_) {
      const auto text = std::find_if(layer.entries.begin(), layer.entries.end(), [](const TreeEntry& entry) {
        return entry.type == TreeEntry::Type::kFile && KindIsJson(entry.path);
      });
      if (text != layer.entries.end()) clean.File(text->path, text->size + 4096);
    }
    End(clean);
  }

  static bool KindIsJson(const std::string& path) {
    return path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0;
  }

  const ImageRecipe& recipe_;
  std::vector<PlannedLayer> layers_;
  uint64_t packages_ = 0;
};

}  // namespace

uint64_t PlannedLayer::bytes() const {
  uint64_t sum = 0;
  for (const TreeEntry& entry : entries) sum += entry.type == TreeEntry::Type::kFile ? entry.size : 0;
  return sum;
}

std::vector<PlannedLayer> PlanLayers(const ImageRecipe& recipe) { return Planner(recipe).Plan(); }

std::vector<TreeEntry> MergedTree(const std::vector<PlannedLayer>& layers) {
  std::vector<TreeEntry> merged;
  std::unordered_set<std::string_view> decided;
  std::vector<std::string> hidden, hidden_below;  // prefixes; of this layer, and for those below it
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    for (const TreeEntry& entry : layer->entries) {
      if (entry.type == TreeEntry::Type::kOpaque) {
        hidden_below.push_back(entry.path + "/");
        continue;
      }
      const bool is_hidden = std::any_of(hidden.begin(), hidden.end(), [&](const std::string& prefix) {
        return entry.path.compare(0, prefix.size(), prefix) == 0;
      });
      if (is_hidden || !decided.insert(entry.path).second) continue;
      if (entry.type != TreeEntry::Type::kWhiteout) merged.push_back(entry);
    }
    hidden = hidden_below;
  }
  return merged;
}

}  // namespace soci::bench
