// soci-work: what runs in made images while they are pulled. Statically linked, so it needs nothing of the image but
// the files that it is about.
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/work/image.h"
#include "bench/work/report.h"
#include "bench/work/verbs.h"

namespace soci::bench {
namespace {

constexpr char kHelp[] =
    "soci-work [--root FOLDER] VERB [NUMBER]     in an image that soci-bench made; reads, and compares every byte\n\n"
    "  hello              says so\n"
    "  import             plays the image's trace of an import\n"
    "  epoch              that, then four readers over the shuffled data set\n"
    "  density PERCENT    that share of all bytes, shuffled, by four readers\n"
    "  sequential         the model, in order\n"
    "  random [COUNT]     pages of 4 KiB far from each other, one after the other (300)\n"
    "  warm               a large library from the registry, the disk and memory\n"
    "  metadata           walks all folders, cold and hot\n"
    "  steady [SECONDS]   opens and reads pages, and counts the reads that fail (8)\n";

struct Verb {
  std::function<void(const ImageRoot&, double)> run;
  double usual = 0;  // 0: it takes no number; below 0: it needs one
  double most = 0;
};

const std::map<std::string, Verb>& Verbs() {
  static const std::map<std::string, Verb> verbs = {
      {"hello", {[](const ImageRoot&, double) {}}},
      {"import", {[](const ImageRoot& root, double) { PlayImport(root); }}},
      {"epoch", {[](const ImageRoot& root, double) { ReadEpoch(root); }}},
      {"density", {[](const ImageRoot& root, double percent) { ReadDensity(root, percent); }, -1, 100}},
      {"sequential", {[](const ImageRoot& root, double) { ReadSequential(root); }}},
      {"random", {[](const ImageRoot& root, double n) { ReadRandom(root, static_cast<uint64_t>(n)); }, 300, 1e6}},
      {"warm", {[](const ImageRoot& root, double) { ReadWarm(root); }}},
      {"metadata", {[](const ImageRoot& root, double) { WalkMetadata(root); }}},
      {"steady", {[](const ImageRoot& root, double n) { ReadSteadily(root, static_cast<uint64_t>(n)); }, 8, 86400}}};
  return verbs;
}

int Usage(const std::string& what) {
  PrintLine("soci-work: " + what + "\n\n" + kHelp);
  return 2;
}

int Main(std::vector<std::string> words) {
  ImageRoot root;
  if (words.size() >= 2 && words[0] == "--root") {
    root.folder = words[1] + "/";
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.empty()) return Usage("no verb");
  if (words[0] == "--help" || words[0] == "-h") {
    PrintLine(kHelp);
    return 0;
  }
  const auto verb = Verbs().find(words[0]);
  if (verb == Verbs().end()) return Usage("no verb is called " + words[0]);
  double number = verb->second.usual;
  if (words.size() == 2 && number != 0) {
    char* end = nullptr;
    number = std::strtod(words[1].c_str(), &end);
    if (*end != '\0' || !(number > 0 && number <= verb->second.most))
      return Usage("\"" + words[1] + "\" is out of range");
  } else if (words.size() > 1 || number < 0) {
    return Usage(words[0] + (number < 0 ? " needs a number" : " takes nothing more"));
  }
  PrintLine("begun");
  try {
    root.seed = ReadRecipe(root.folder).seed;
    verb->second.run(root, number);
  } catch (const std::exception& error) {
    PrintLine(std::string("soci-work: ") + error.what());
    return 1;
  }
  PrintLine("done");
  return 0;
}

}  // namespace
}  // namespace soci::bench

int main(int argc, char** argv) { return soci::bench::Main({argv + 1, argv + argc}); }
