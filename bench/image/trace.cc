#include "bench/image/trace.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>

#include "bench/image/random.h"

namespace soci::bench {
namespace {

using Kind = TraceStep::Kind;

constexpr uint64_t kTouchedPercent = 6;
constexpr uint64_t kMostModules = 2200;
constexpr uint64_t kFilesPerModule = 15;  // in the image, for each that is imported
constexpr uint64_t kPage = 4096;
constexpr uint64_t kHeadAndTail = 64 << 10;  // of a library: what the loader always reads
constexpr uint64_t kLeastLibrary = 500'000;

bool EndsWith(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

class TraceMaker {
 public:
  explicit TraceMaker(const ImageRecipe& recipe) : recipe_(recipe), random_(Mix(recipe.seed ^ HashText("import"))) {}

  std::vector<TraceStep> Make(const std::vector<PlannedLayer>& layers) {
    Collect(layers);
    const uint64_t wanted = std::min(kMostModules, recipe_.files / kFilesPerModule);
    random_.Shuffle(folders_);
    random_.Shuffle(libraries_);
    std::vector<const TreeEntry*> modules;
    for (const auto& folder : folders_) {
      if (modules.size() >= wanted) break;
      modules.insert(modules.end(), folder.begin(), folder.end());
    }
    uint64_t read = 0, library_bytes = 0;
    for (const TreeEntry* module : modules) read += module->size;
    for (const TreeEntry* library : libraries_) library_bytes += library->size;
    const uint64_t all = recipe_.bytes / 100 * kTouchedPercent;
    const uint64_t budget = all > read ? all - read : 0;
    // Libraries are loaded where modules need them: evenly among these.
    size_t next = 0;
    for (size_t i = 0; i < modules.size(); ++i) {
      Import(*modules[i]);
      for (; next < libraries_.size() && next * modules.size() <= i * libraries_.size(); ++next) {
        Load(*libraries_[next], libraries_[next]->size / 1000 * (budget * 1000 / library_bytes));
      }
    }
    return std::move(trace_);
  }

 private:
  // Compiled modules by folder, and libraries, as a container sees them.
  void Collect(const std::vector<PlannedLayer>& layers) {
    std::map<std::string, std::vector<const TreeEntry*>> folders;
    for (const PlannedLayer& layer : layers) {
      for (const TreeEntry& entry : layer.entries) {
        if (entry.type != TreeEntry::Type::kFile) continue;
        if (EndsWith(entry.path, ".pyc")) folders[FolderOf(entry.path)].push_back(&entry);
        if (EndsWith(entry.path, ".so") && entry.size >= kLeastLibrary) libraries_.push_back(&entry);
      }
    }
    for (auto& [name, modules] : folders) folders_.push_back(std::move(modules));
  }

  void Think(uint64_t least, uint64_t most) {
    trace_.push_back({Kind::kThink, {}, least + random_.Below(most - least)});
  }

  void Import(const TreeEntry& module) {
    const std::string cache = FolderOf(module.path), folder = FolderOf(cache);
    const std::string file = module.path.substr(cache.size() + 1);
    const std::string name = file.substr(0, file.find('.'));
    if (name == "__init__") {
      for (const char* elsewhere : {"app/", "usr/local/"}) {
        trace_.push_back({Kind::kMissing, elsewhere + folder.substr(folder.rfind('/') + 1)});
      }
      trace_.push_back({Kind::kList, folder});
    } else {
      trace_.push_back({Kind::kMissing, folder + "/" + name + ".cpython-311-x86_64-linux-gnu.so"});
      trace_.push_back({Kind::kMissing, folder + "/" + name + ".abi3.so"});
    }
    // The compiled twin is an eighth larger than its source, which is only looked at.
    const uint64_t source = SourceSize(module.size);
    trace_.push_back({Kind::kStat, folder + "/" + name + ".py", source});
    trace_.push_back({Kind::kRead, module.path, module.size});
    Think(150, 600);
  }

  // Inverts compiled = source + source / 8.
  static uint64_t SourceSize(uint64_t compiled) {
    uint64_t source = compiled * 8 / 9;
    while (source + source / 8 < compiled) ++source;
    return source;
  }

  void Load(const TreeEntry& library, uint64_t budget) {
    trace_.push_back({Kind::kMap, library.path, library.size});
    Touch(library, 0, kHeadAndTail);
    Touch(library, library.size - std::min(library.size, kHeadAndTail), kHeadAndTail);
    Think(500, 2000);
    const uint64_t pages = library.size / kPage;
    for (uint64_t touched = 2 * kHeadAndTail; touched < budget;) {
      // Relocations and constructors: short runs are frequent, long ones bring most of the bytes.
      const uint64_t run = std::min((1 + random_.Skewed(250)) * kPage, budget - touched + kPage);
      Touch(library, random_.Below(pages) * kPage, run);
      touched += run;
      if (random_.Below(4) == 0) Think(100, 400);
    }
  }

  void Touch(const TreeEntry& library, uint64_t offset, uint64_t size) {
    trace_.push_back({Kind::kTouch, {}, offset, std::min(size, library.size - offset)});
  }

  const ImageRecipe& recipe_;
  Random random_;
  std::vector<std::vector<const TreeEntry*>> folders_;
  std::vector<const TreeEntry*> libraries_;
  std::vector<TraceStep> trace_;
};

bool TakeNumber(std::string_view& line, uint64_t& number) {
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr == line.data() + line.size() || *parsed.ptr != ' ') return false;
  line.remove_prefix(static_cast<size_t>(parsed.ptr - line.data()) + 1);
  return true;
}

}  // namespace

std::vector<TraceStep> MakeImportTrace(const ImageRecipe& recipe, const std::vector<PlannedLayer>& layers) {
  return TraceMaker(recipe).Make(layers);
}

std::string ToText(const std::vector<TraceStep>& trace) {
  std::string text;
  for (const TraceStep& step : trace) {
    text += static_cast<char>(step.kind);
    text += " " + std::to_string(step.first) + " " + std::to_string(step.second) + " " + step.path + "\n";
  }
  return text;
}

std::optional<std::vector<TraceStep>> TraceFromText(std::string_view text) {
  static constexpr std::string_view kKinds = "sndrmtw";
  std::vector<TraceStep> trace;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.size() < 2 || kKinds.find(line[0]) == std::string_view::npos || line[1] != ' ') return std::nullopt;
    TraceStep step{static_cast<Kind>(line[0])};
    line.remove_prefix(2);
    if (!TakeNumber(line, step.first) || !TakeNumber(line, step.second)) return std::nullopt;
    step.path = line;
    trace.push_back(std::move(step));
  }
  return trace;
}

}  // namespace soci::bench
