#include "bench/run/catalog.h"

#include <fmt/format.h>

#include <algorithm>

namespace soci::bench {
namespace {

// Nothing that nobody asked for: what is counted then is what the program needs.
constexpr char kOnDemandOnly[] = " --fetch.fill=false";
// Nor anything beside it: each read is a miss.
constexpr char kBare[] = " --fetch.fill=false --fetch.neighbours=0";

std::vector<CatalogEntry> MakeCatalog() {
  std::vector<CatalogEntry> all;
  all.push_back({"start-to-exec",
                 "how soon the first instruction runs",
                 "pytorch",
                 {"A"},
                 "exec",
                 {"containerd", "lazy", "full", "peers"}});
  all.push_back({"start-to-ready",
                 "how soon `import torch` is done",
                 "pytorch",
                 {"A", "B", "C"},
                 "torch",
                 {"containerd", "lazy", "lazy+replay", "full", "local", "peers"}});
  all.push_back({"first-epoch",
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
  all.push_back(
      {"cold-miss", "how long one read waits for the registry", "demo", {"A"}, "random", {"lazy", "local"}, kBare});
  all.push_back({"warm-read", "how fast files that are here are read", "demo", {"A"}, "warm", {"lazy", "local"}});
  all.push_back({"metadata-storm", "how fast folders are walked", "demo", {"A"}, "walk", {"lazy", "local", "peers"}});
  all.push_back({"wire-economy",
                 "what an import needs of the registry",
                 "pytorch",
                 {"A"},
                 "torch",
                 {"lazy", "lazy+replay"},
                 kOnDemandOnly});
  all.push_back({"index-cost", "what making the index takes, and its size", "pytorch", {"none"}, "exec", {}});
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
  CatalogEntry gang{"gang-start",          "four hosts at once behind one uplink", "demo", {"A"}, "demo",
                    {"containerd", "lazy"}};
  gang.hosts = 4;
  all.push_back(gang);
  CatalogEntry survival{"survival", "failed reads when the daemon is killed", "demo", {"A"}, "reader", {"lazy"}};
  survival.kill_daemon_at = "reading";
  all.push_back(survival);
  CatalogEntry demo{"demo", "a small program in a real image",
                    "demo", {"A"},
                    "demo", {"containerd", "lazy", "full", "local", "peers"}};
  demo.wait_until_local = true;
  demo.is_short = true;
  all.push_back(demo);
  return all;
}

constexpr char kRandom[] = R"py(
import os, random, time
path = "/usr/lib/libkernels.so"
size = os.path.getsize(path)
random.seed(7)
spots = random.sample(range(size // 4096), 200)
with open(path, "rb", buffering=0) as file:
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
    for spot in spots:
        start = time.monotonic()
        os.pread(file.fileno(), 4096, spot * 4096)
        print("reads_ms", (time.monotonic() - start) * 1000, flush=True)
)py";

constexpr char kWarm[] = R"py(
import os, random, time
path = "/usr/lib/libkernels.so"
size = os.path.getsize(path)
def whole():
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 17):
            pass
whole()
print("fetched", flush=True)
with open(path, "rb") as file:
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
whole()
print("read from the disk", flush=True)
whole()
print("read from memory", flush=True)
random.seed(7)
with open(path, "rb", buffering=0) as file:
    for _ in range(20000):
        start = time.monotonic()
        os.pread(file.fileno(), 4096, random.randrange(size // 4096) * 4096)
        print("reads_ms", (time.monotonic() - start) * 1000)
)py";

constexpr char kWalk[] = R"py(
import os
def walk():
    entries = 0
    for folder, folders, files in os.walk("/usr"):
        for name in files + folders:
            os.lstat(os.path.join(folder, name))
            entries += 1
    return entries
print("entries", walk(), flush=True)
print("walked cold", flush=True)
walk()
print("walked hot", flush=True)
)py";

// Opens every file by itself, as a mount that died makes descriptors fail that a new one would not.
constexpr char kReader[] = R"py(
import os, time
failed, times = 0, []
print("reading", flush=True)
begin = time.monotonic()
while time.monotonic() - begin < 8:
    offset = (len(times) * 7919 * 4096) % (400 << 20)
    start = time.monotonic()
    try:
        with open("/usr/lib/libkernels.so", "rb", buffering=0) as file:
            os.pread(file.fileno(), 4096, offset)
    except OSError:
        failed += 1
    times.append(time.monotonic() - start)
print("count failed_reads", failed)
for longest in sorted(times)[-100:]:
    print("reads_ms", longest * 1000)
)py";

Workload Command(const std::string& name, std::vector<std::string> command, std::vector<Mark> marks = {}) {
  Workload workload;
  workload.name = name;
  workload.command = std::move(command);
  workload.marks = std::move(marks);
  return workload;
}

Workload Script(const std::string& name, const char* script, std::vector<Mark> marks = {}) {
  return Command(name, {"/usr/bin/python3", "-c", script}, std::move(marks));
}

std::vector<Workload> MakeWorkloads() {
  const Mark imported{"imports done", "imported"};
  const Mark answered{"answered", "answered"};
  return {Command("exec", {"/bin/echo", "begun"}),
          Command("demo", {"/usr/bin/python3", "/app/work.py"}, {imported}),
          Command("torch", {"/usr/bin/python3", "/app/work.py"}, {imported}),
          Command("train", {"/usr/bin/python3", "/app/work.py", "--train"}, {imported}),
          Command("node", {"/usr/bin/node", "/app/server.js"}, {answered}),
          Command("java", {"/app/java", "-cp", "/app", "Server"}, {answered}),
          Command("shell", {"/bin/bash", "/app/work.sh"}, {answered}),
          Script("random", kRandom),
          Script("warm", kWarm,
                 {{"read once", "fetched"}, {"read from the disk", "the disk"}, {"read from memory", "from memory"}}),
          Script("walk", kWalk, {{"walked cold", "walked cold"}, {"walked hot", "walked hot"}}),
          Script("reader", kReader)};
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
      if (name == "all" || name == entry.name || (name == "short" && entry.is_short)) found.push_back(entry);
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
