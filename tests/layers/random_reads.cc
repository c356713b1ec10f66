#include "tests/layers/random_reads.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "indexer/base/unique_fd.h"

namespace soci::test {
namespace {

// "" or what went wrong.
std::string ReadFileRandomly(const std::string& path, const TreeEntry& entry, std::mt19937& random) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return fmt::format("open: {}", std::strerror(errno));
  std::vector<uint64_t> cuts{0, entry.size};
  for (int i = 0; i < 5 && entry.size > 0; ++i) cuts.push_back(random() % entry.size);
  std::sort(cuts.begin(), cuts.end());
  std::vector<std::pair<uint64_t, uint64_t>> pieces;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) pieces.emplace_back(cuts[i], cuts[i + 1]);
  std::shuffle(pieces.begin(), pieces.end(), random);
  std::string content(entry.size, '\0');
  for (const auto& [begin, end] : pieces) {
    for (uint64_t at = begin; at < end;) {
      const ssize_t count = ::pread(file.get(), content.data() + at, end - at, static_cast<off_t>(at));
      if (count <= 0) return fmt::format("pread at {}: {}", at, count == 0 ? "end of file" : std::strerror(errno));
      at += static_cast<uint64_t>(count);
    }
  }
  char beyond;
  if (::pread(file.get(), &beyond, 1, static_cast<off_t>(entry.size)) != 0) return "there is more than its size";
  return oci::Digest::Of(content) == entry.content ? "" : "content differs";
}

}  // namespace

std::string ReadRandomly(const std::string& root, const Tree& tree, uint32_t seed, unsigned threads) {
  std::vector<std::string> files;
  for (const auto& [path, entry] : tree) {
    if (S_ISREG(entry.mode)) files.push_back(path);
  }
  std::shuffle(files.begin(), files.end(), std::mt19937(seed));
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::string wrong;
  std::vector<std::thread> readers;
  for (unsigned i = 0; i < threads; ++i) {
    readers.emplace_back([&, i] {
      std::mt19937 random(seed * 31 + i);
      // Every file is read by two threads, at about the same time.
      for (size_t at = next++; at < 2 * files.size(); at = next++) {
        const std::string& path = files[at / 2];
        const std::string fault = ReadFileRandomly(root + "/" + path, tree.at(path), random);
        if (fault.empty()) continue;
        const std::lock_guard<std::mutex> lock(mutex);
        wrong += path + ": " + fault + "\n";
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  return wrong;
}

}  // namespace soci::test
