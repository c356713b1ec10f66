#include <fcntl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <thread>

#include "bench/image/random.h"
#include "bench/work/image.h"
#include "bench/work/report.h"
#include "bench/work/verbs.h"

namespace soci::bench {
namespace {

constexpr size_t kReaders = 4;
constexpr uint64_t kStretch = 1'000'000;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kLargeLibrary = 4'000'000;
constexpr std::chrono::microseconds kDecodePicture(200);

struct Stretch {
  const TreeEntry* file;
  uint64_t offset, size;
};

std::vector<Stretch> Stretches(const std::vector<TreeEntry>& files, uint64_t most) {
  std::vector<Stretch> stretches;
  for (const TreeEntry& file : files) {
    for (uint64_t at = 0; at < file.size; at += most) stretches.push_back({&file, at, std::min(most, file.size - at)});
  }
  return stretches;
}

void PrintRead(uint64_t bytes, size_t reads) {
  PrintLine("read " + std::to_string(bytes) + " bytes in " + std::to_string(reads) + " reads, all of them right");
}

std::vector<TreeEntry> LargeLibraries(const ImageRoot& root) {
  std::vector<TreeEntry> libraries = ExpectedFiles(root, ".so");
  std::sort(libraries.begin(), libraries.end(),
            [](const TreeEntry& one, const TreeEntry& other) { return one.size > other.size; });
  const auto small = std::find_if(libraries.begin() + !libraries.empty(), libraries.end(),
                                  [](const TreeEntry& file) { return file.size < kLargeLibrary; });
  libraries.erase(small, libraries.end());
  if (libraries.empty() || libraries[0].size < kPage) Fail(kRecipePath, "makes no library of a page or more");
  return libraries;
}

}  // namespace

void ReadEpoch(const ImageRoot& root) {
  PlayImport(root);
  std::vector<TreeEntry> files = ExpectedFiles(root, ".jpg");
  Random(root.seed).Shuffle(files);
  uint64_t bytes = 0;
  for (const TreeEntry& file : files) bytes += file.size;
  Latencies latencies;
  InParallel(kReaders, files.size(), [&](size_t i) {
    const SteadyTime begin = Now();
    CheckedFile file(root, files[i].path);
    file.ExpectSize(files[i].size);
    file.Read(0, files[i].size);
    latencies.Add(Now() - begin);
    Think(kDecodePicture);
  });
  PrintLine("epoch done");
  PrintRead(bytes, files.size());
  latencies.Print();
}

void ReadDensity(const ImageRoot& root, double percent) {
  const std::vector<TreeEntry> files = ExpectedFiles(root, "");
  std::vector<Stretch> stretches = Stretches(files, kStretch);
  Random(root.seed).Shuffle(stretches);
  uint64_t all = 0, bytes = 0;
  for (const TreeEntry& file : files) all += file.size;
  const auto wanted = static_cast<uint64_t>(static_cast<double>(all) * percent / 100);
  size_t count = 0;
  while (count < stretches.size() && bytes < wanted) bytes += stretches[count++].size;
  Latencies latencies;
  InParallel(kReaders, count, [&](size_t i) {
    const SteadyTime begin = Now();
    CheckedFile file(root, stretches[i].file->path);
    file.ExpectSize(stretches[i].file->size);
    file.Read(stretches[i].offset, stretches[i].size, 128 << 10);
    latencies.Add(Now() - begin);
  });
  PrintLine("density done");
  PrintRead(bytes, count);
  latencies.Print();
}

void ReadSequential(const ImageRoot& root) {
  uint64_t bytes = 0;
  const std::vector<TreeEntry> files = ExpectedFiles(root, ".safetensors");
  const std::vector<Stretch> stretches = Stretches(files, 1 << 20);
  Latencies latencies;
  for (const TreeEntry& entry : files) {
    CheckedFile file(root, entry.path);
    file.ExpectSize(entry.size);
    for (const Stretch& stretch : stretches) {
      if (stretch.file != &entry) continue;
      const SteadyTime begin = Now();
      file.Read(stretch.offset, stretch.size);
      latencies.Add(Now() - begin);
      bytes += stretch.size;
    }
  }
  PrintLine("model read");
  PrintRead(bytes, stretches.size());
  latencies.Print();
}

void ReadRandom(const ImageRoot& root, uint64_t count) {
  const std::vector<TreeEntry> libraries = LargeLibraries(root);
  uint64_t pages = 0;
  for (const TreeEntry& library : libraries) pages += library.size / kPage;
  count = std::min(count, pages);
  // One page of each of `count` equal parts of all libraries together, in shuffled order: no two are neighbours.
  Random random(root.seed);
  std::vector<uint64_t> spots;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t begin = pages * i / count, end = pages * (i + 1) / count;
    spots.push_back(begin + random.Below(end - begin));
  }
  random.Shuffle(spots);
  Latencies latencies;
  for (const uint64_t spot : spots) {
    uint64_t page = spot;
    auto library = libraries.begin();
    for (; page >= library->size / kPage; ++library) page -= library->size / kPage;
    CheckedFile file(root, library->path);
    ::posix_fadvise(file.fd(), 0, 0, POSIX_FADV_RANDOM);
    const SteadyTime begin = Now();
    file.Read(page * kPage, kPage, kPage);
    latencies.Add(Now() - begin);
  }
  PrintLine("pages read");
  PrintRead(count * kPage, count);
  latencies.Print();
}

void ReadWarm(const ImageRoot& root) {
  constexpr uint64_t kMost = 500'000'000;
  constexpr size_t kPages = 20'000;
  const TreeEntry library = LargeLibraries(root)[0];
  const uint64_t size = std::min(library.size, kMost);
  CheckedFile file(root, library.path);
  file.ExpectSize(library.size);
  file.Read(0, size, 128 << 10);
  PrintLine("fetched");
  ::posix_fadvise(file.fd(), 0, 0, POSIX_FADV_DONTNEED);
  file.Read(0, size, 128 << 10);
  PrintLine("read from the disk");
  file.Read(0, size, 128 << 10);
  PrintLine("read from memory");
  Latencies latencies;
  for (const size_t readers : {size_t{1}, kReaders}) {
    InParallel(readers, kPages, [&](size_t i) {
      const SteadyTime begin = Now();
      file.Read(Mix(i) % (size / kPage) * kPage, kPage, kPage);
      if (readers == 1) latencies.Add(Now() - begin);
    });
    PrintLine("pages by " + std::to_string(readers));
  }
  latencies.Print();
}

void ReadSteadily(const ImageRoot& root, uint64_t seconds) {
  const std::vector<TreeEntry> libraries = LargeLibraries(root);
  Latencies latencies;
  uint64_t failed = 0, reads = 0;
  PrintLine("reading");
  const SteadyTime end = Now() + std::chrono::seconds(seconds);
  do {
    const TreeEntry& library = libraries[reads % libraries.size()];
    bool failing = false;
    const SteadyTime begin = Now();
    try {
      CheckedFile(root, library.path).Read(Mix(reads) % (library.size / kPage) * kPage, kPage, kPage);
    } catch (const std::exception& error) {
      if (std::string(error.what()).find("WRONG") != std::string::npos) throw;
      if (failed++ == 0) PrintLine(std::string("failed: ") + error.what());
      failing = true;
    }
    latencies.Add(Now() - begin);
    // So that the count is of tries and not of the processor's speed.
    if (failing) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++reads;
  } while (Now() < end);
  PrintLine("count failed_reads " + std::to_string(failed));
  latencies.PrintLongest(100);
}

}  // namespace soci::bench
