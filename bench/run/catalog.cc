#include "bench/run/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/image/recipe.h"

namespace soci::bench {
namespace {

// Nothing that nobody asked for: what is counted then is what the program needs.
constexpr char kOnDemandOnly[] = " --fetch.fill=false";
// Nor anything beside it: each read is a miss.
constexpr char kBare[] = " --fetch.fill=false --fetch.neighbours=0";

constexpr char kNoKeeper[] =
    "Mounts end with the daemon while there is no soci-keeper to hold them: reads of a container that runs fail from "
    "then on, until it is started again. With a keeper none may fail. The latencies are those of the longest 100 "
    "reads.";

// Of the image's bytes, in percent.
constexpr int kDensities[] = {1, 5, 10, 25, 50, 100};

std::vector<CatalogEntry> MadeImages() {
  std::vector<CatalogEntry> all;
  all.push_back({"import-trace",
                 "how soon an import is done that touches 6 % of the image",
                 "S",
                 {"A"},
                 "import",
                 {"containerd", "lazy", "full", "local", "peers"}});
  all.back().wait_until_local = true;
  all.back().short_modes = {"containerd", "lazy", "full", "local"};
  all.push_back({"import-demand",
                 "what an import needs of the registry, and nothing besides",
                 "S",
                 {"A"},
                 "import",
                 {"lazy", "lazy+replay"},
                 kOnDemandOnly});
  all.back().short_modes = {"lazy"};
  all.push_back({"first-epoch",
                 "what reading lazily costs four readers of a data set",
                 "S",
                 {"A"},
                 "epoch",
                 {"containerd", "lazy", "local", "peers"}});
  for (const int percent : kDensities) {
    all.push_back({fmt::format("density {}%", percent),
                   "from which share of the bytes on a full pull is better",
                   "S",
                   {"A"},
                   fmt::format("density {}", percent),
                   {"containerd", "lazy", "local"}});
    if (percent < 100) continue;
    all.back().wait_until_local = true;
    all.back().short_modes = {"containerd", "lazy"};
  }
  all.push_back({"sequential-read", "how fast a model is read in order", "S", {"A"}, "sequential", {"lazy", "local"}});
  all.push_back(
      {"random-read", "how long pages wait while the image is filled", "S", {"A"}, "random", {"lazy", "local"}});
  all.push_back(
      {"cold-miss", "how long one read waits for the registry", "S", {"A"}, "random", {"lazy", "local"}, kBare});
  all.back().short_modes = {"lazy"};
  all.push_back({"warm-read", "how fast files that are here are read", "S", {"A"}, "warm", {"lazy", "local"}});
  all.push_back({"metadata-storm", "how fast folders are walked", "S", {"A"}, "metadata", {"lazy", "local", "peers"}});
  all.back().short_modes = {"lazy"};
  all.push_back({"start-to-exec",
                 "how soon the first instruction of a large image runs",
                 "L",
                 {"A"},
                 "hello",
                 {"containerd", "lazy", "full", "peers"}});
  all.push_back({"large-image",
                 "how soon an import in a large image is done",
                 "L",
                 {"A", "B", "C"},
                 "import",
                 {"containerd", "lazy", "full", "local", "peers"}});
  all.push_back({"dominant-layer",
                 "one layer with most of the bytes, where the processor is the limit",
                 "M",
                 {"C"},
                 "import",
                 {"containerd", "lazy", "full"}});
  all.back().wait_until_local = true;
  CatalogEntry survival{"survival", "failed reads when the daemon is killed", "S", {"A"}, "steady", {"lazy"}};
  survival.kill_daemon_at = "reading";
  survival.note = kNoKeeper;
  all.push_back(survival);
  CatalogEntry upgrade{"survival-upgrade", "failed reads when the daemon is replaced", "S", {"A"}, "steady", {"lazy"}};
  upgrade.upgrade_daemon_at = "reading";
  upgrade.note = kNoKeeper;
  all.push_back(upgrade);
  CatalogEntry outage{"survival-outage", "failed reads when the registry is away", "S", {"A"}, "steady", {"lazy"}};
  outage.registry_down_at = "reading";
  outage.note =
      "No read may fail: what is not here waits until the registry is back. The latencies are those of the longest 100 "
      "reads.";
  all.push_back(outage);
  all.push_back({"survival-flips",
                 "wrong bytes when one answer in ten has a bit turned over",
                 "S",
                 {"A,flip=10%"},
                 "epoch",
                 {"lazy"}});
  all.back().keeps_link = true;
  all.back().note = "The work compares every byte that it reads, and fails on a wrong one.";
  CatalogEntry gang{"gang-start", "four hosts at once behind one uplink", "S", {"A"}, "import", {"containerd", "lazy"}};
  gang.hosts = 4;
  all.push_back(gang);
  all.push_back({"limited-disk",
                 "a full pull and ours where the disk is the limit",
                 "S",
                 {"D"},
                 "import",
                 {"containerd", "lazy", "full"}});
  all.back().wait_until_local = true;
  all.back().keeps_link = true;
  return all;
}

std::vector<CatalogEntry> RealImages() {
  std::vector<CatalogEntry> all;
  all.push_back({"start-to-ready",
                 "how soon `import torch` is done",
                 "pytorch",
                 {"A", "B", "C"},
                 "torch",
                 {"containerd", "lazy", "lazy+replay", "full", "local", "peers"}});
  all.push_back({"training",
                 "what reading lazily costs the first training steps",
                 "pytorch",
                 {"A"},
                 "train",
                 {"lazy", "local", "peers"}});
  all.push_back({"fully-local",
                 "how soon every byte is on the disk while a program runs",
                 "pytorch",
                 {"A"},
                 "train",
                 {"containerd", "lazy", "full"}});
  all.back().wait_until_local = true;
  all.push_back({"wire-economy",
                 "what an import needs of the registry",
                 "pytorch",
                 {"A"},
                 "torch",
                 {"lazy", "lazy+replay"},
                 kOnDemandOnly});
  all.push_back({"index-cost", "what making the index takes, and its size", "pytorch", {"none"}, "torch", {}});
  all.back().keeps_link = true;
  all.push_back({"daemon-cost",
                 "processor and memory of a whole delivery",
                 "pytorch",
                 {"C"},
                 "train",
                 {"containerd", "lazy", "full"}});
  all.back().wait_until_local = true;
  for (const char* program : {"node", "java", "shell"}) {
    all.push_back({program,
                   fmt::format("how soon the program of the {} image has done its work", program),
                   program,
                   {"A", "B"},
                   program,
                   {"containerd", "lazy", "lazy+replay", "local", "peers"}});
  }
  CatalogEntry demo{"demo", "a small program in a real image",
                    "demo", {"A"},
                    "demo", {"containerd", "lazy", "full", "local", "peers"}};
  demo.wait_until_local = true;
  all.push_back(demo);
  return all;
}

std::vector<CatalogEntry> MakeCatalog() {
  std::vector<CatalogEntry> all = MadeImages();
  for (CatalogEntry& entry : RealImages()) all.push_back(std::move(entry));
  return all;
}

// "density 5%" is one of the sweep "density".
std::string SweepOf(const std::string& name) {
  return !name.empty() && name.back() == '%' ? name.substr(0, name.rfind(' ')) : name;
}

Workload Command(const std::string& name, std::vector<std::string> command, std::vector<Mark> marks = {}) {
  Workload workload;
  workload.name = name;
  workload.command = std::move(command);
  workload.marks = std::move(marks);
  return workload;
}

// A verb of the program that made images carry.
Workload Verb(const std::string& name, std::vector<Mark> marks = {}) {
  std::vector<std::string> command = {"/" + std::string(kProgramPath)};
  const size_t space = name.find(' ');
  command.push_back(name.substr(0, space));
  if (space != std::string::npos) command.push_back(name.substr(space + 1));
  return Command(name, std::move(command), std::move(marks));
}

std::vector<Workload> MakeWorkloads() {
  const Mark imported{"imports done", "imported"};
  const Mark answered{"answered", "answered"};
  std::vector<Workload> all = {
      Command("demo", {"/usr/bin/python3", "/app/work.py"}, {imported}),
      Command("torch", {"/usr/bin/python3", "/app/work.py"}, {imported}),
      Command("train", {"/usr/bin/python3", "/app/work.py", "--train"}, {imported}),
      Command("node", {"/usr/bin/node", "/app/server.js"}, {answered}),
      Command("java", {"/app/java", "-cp", "/app", "Server"}, {answered}),
      Command("shell", {"/bin/bash", "/app/work.sh"}, {answered}),
      Verb("hello"),
      Verb("import", {imported}),
      Verb("epoch", {imported, {"epoch done", "epoch done"}}),
      Verb("sequential"),
      Verb("random"),
      Verb("warm", {{"read once", "fetched"}, {"read from the disk", "the disk"}, {"read from memory", "from memory"}}),
      Verb("metadata", {{"walked cold", "walked cold"}, {"walked hot", "walked hot"}, {"opened", "opened"}}),
      Verb("steady")};
  for (const int percent : kDensities) all.push_back(Verb(fmt::format("density {}", percent)));
  return all;
}

}  // namespace

const std::vector<CatalogEntry>& Catalog() {
  static const std::vector<CatalogEntry> catalog = MakeCatalog();
  return catalog;
}

soci::Result<std::vector<CatalogEntry>> FindScenarios(const std::vector<std::string>& names) {
  std::vector<CatalogEntry> found;
  for (const std::string& name : names) {
    const size_t before = found.size();
    for (const CatalogEntry& entry : Catalog()) {
      const bool named = name == entry.name || name == SweepOf(entry.name);
      const bool is_short = name == "short" && !entry.short_modes.empty();
      if (name != "all" && !named && !is_short) continue;
      found.push_back(entry);
      if (is_short) found.back().modes = entry.short_modes;
    }
    if (found.size() > before) continue;
    std::string known;
    for (const CatalogEntry& entry : Catalog()) known += entry.name + ", ";
    return absl::InvalidArgumentError(
        fmt::format("no scenario is called \"{}\"; there are {}short and all", name, known));
  }
  return found;
}

soci::Result<Workload> NamedWorkload(const std::string& name) {
  for (const Workload& workload : MakeWorkloads()) {
    if (workload.name == name) return workload;
  }
  return absl::InvalidArgumentError(fmt::format("no workload is called \"{}\"", name));
}

}  // namespace soci::bench
