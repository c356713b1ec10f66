#include "bench/image/layer_builder.h"

#include <algorithm>
#include <array>

namespace soci::bench {
namespace {

// Sixteen equally frequent sizes of small files, as site-packages of training images have them; their mean.
constexpr std::array<uint64_t, 17> kSmallSizes = {0,    100,  350,  650,   1'000,  1'500,  2'100,  2'900, 3'900,
                                                  5200, 6900, 9400, 12900, 18'900, 29'900, 59'900, 90'000};
constexpr uint64_t kMeanSmallSize = 12'500;
constexpr uint64_t kLargestLibrary = 1'500'000'000, kSmallestLibrary = 4'000'000;

constexpr uint64_t kFilesPerSymlink = 60, kFilesPerHardLink = 250, kFilesPerXattr = 400;

}  // namespace

LayerBuilder::LayerBuilder(std::string name, uint64_t seed) : layer_{std::move(name), {}}, random_(seed) {}

void LayerBuilder::Directory(const std::string& path) {
  if (path.empty() || !directories_.insert(path).second) return;
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos) Directory(path.substr(0, slash));
  layer_.entries.push_back({TreeEntry::Type::kDirectory, path});
}

void LayerBuilder::Add(TreeEntry entry) {
  const size_t slash = entry.path.rfind('/');
  if (slash != std::string::npos) Directory(entry.path.substr(0, slash));
  layer_.entries.push_back(std::move(entry));
}

void LayerBuilder::File(const std::string& path, uint64_t size, bool executable) {
  Add({TreeEntry::Type::kFile, path, {}, size, executable, ++files_ % kFilesPerXattr == 0});
  bytes_ += size;
}

std::string LayerBuilder::Name() {
  static constexpr std::array<std::string_view, 16> kSyllables = {"ten", "sor", "ker", "nel", "lin", "al", "con", "vo",
                                                                  "op",  "ti",  "mi",  "ze",  "da",  "ta", "lo",  "ad"};
  std::string name;
  for (uint64_t left = 2 + random_.Below(3); left > 0; --left) name += kSyllables[random_.Below(kSyllables.size())];
  return name + "_" + std::to_string(names_++);
}

uint64_t LayerBuilder::SmallSize(uint64_t scale_permille) {
  const uint64_t step = random_.Below(kSmallSizes.size() - 1);
  const uint64_t size = kSmallSizes[step] + random_.Below(kSmallSizes[step + 1] - kSmallSizes[step]);
  return size * scale_permille / 1000;
}

void LayerBuilder::Links(const std::string& path) {
  if (files_ % kFilesPerSymlink == 0) {
    Add({TreeEntry::Type::kSymlink, path + ".link", path.substr(path.rfind('/') + 1)});
  }
  if (files_ % kFilesPerHardLink == 0) {
    const uint64_t size = layer_.entries.back().type == TreeEntry::Type::kFile ? layer_.entries.back().size : 0;
    if (size > 0) Add({TreeEntry::Type::kHardLink, path + ".same", path, size});
  }
}

void LayerBuilder::Modules(const std::string& folder, uint64_t count, uint64_t scale_permille) {
  std::string name = "__init__";
  for (; count > 0; --count) {
    const uint64_t size = SmallSize(scale_permille);
    File(folder + "/" + name + ".py", size);
    Links(folder + "/" + name + ".py");
    File(folder + "/__pycache__/" + name + ".cpython-311.pyc", size + size / 8);
    name = Name();
  }
}

void LayerBuilder::Packages(const std::string& root, uint64_t bytes, uint64_t files) {
  const uint64_t before = bytes_;
  const uint64_t small = std::min(files * kMeanSmallSize, bytes / 10 * 6);
  const uint64_t scale = files == 0 ? 0 : small * 1000 / (files * kMeanSmallSize);
  std::string package = root + "/" + Name(), folder = package;
  for (uint64_t left = files; left >= 2;) {
    const uint64_t modules = std::min(left / 2, 3 + random_.Below(25));
    Modules(folder, modules, scale);
    left -= 2 * modules;
    if (left > 0 && random_.Below(3) == 0) {
      File(folder + "/" + Name() + ".json", SmallSize(scale));
      --left;
    }
    if (random_.Below(10) == 0) package = root + "/" + Name();
    folder = (random_.Below(4) == 0 && folder.size() < 120 ? folder : package) + "/" + Name();
  }
  const uint64_t used = bytes_ - before;
  if (used < bytes) Libraries(package + "/lib", bytes - used);
}

void LayerBuilder::Libraries(const std::string& folder, uint64_t bytes) {
  while (bytes > 0) {
    const uint64_t share = bytes * (35 + random_.Below(10)) / 100;
    const uint64_t size = bytes < kSmallestLibrary ? bytes : std::min(share, kLargestLibrary);
    File(folder + "/lib" + Name() + ".so", size, true);
    bytes -= size;
  }
}

void LayerBuilder::DataSet(const std::string& root, uint64_t bytes, uint64_t files) {
  constexpr uint64_t kInFolder = 500;
  for (uint64_t i = 0; i < files; ++i) {
    const uint64_t mean = bytes / (files - i);
    const uint64_t size = i + 1 == files ? bytes : std::min(bytes, mean / 2 + random_.Below(mean + 1));
    File(root + "/" + std::to_string(i / kInFolder) + "/" + std::to_string(i) + ".jpg", size);
    bytes -= size;
  }
}

}  // namespace soci::bench
