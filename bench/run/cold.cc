#include "bench/run/cold.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <vector>

namespace soci::bench {
namespace {

constexpr size_t kReportsFreePages = 5;  // VIRTIO_BALLOON_F_REPORTING
constexpr size_t kPiece = 1 << 20;

// All of a file in memory and mapped, which is what the kernel does not drop; but not as used: what was mapped so goes
// first when memory is needed.
class Mapped {
 public:
  Mapped(int file, off_t size) : size_(static_cast<size_t>(size)) {
    if (size_ == 0) return;
    address_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    if (address_ == MAP_FAILED) return;
    ::madvise(address_, size_, MADV_SEQUENTIAL);
    ::madvise(address_, size_, MADV_POPULATE_READ);
  }
  ~Mapped() {
    if (address_ != MAP_FAILED) ::munmap(address_, size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

 private:
  const size_t size_;
  void* address_ = MAP_FAILED;
};

// Bytes from `begin` to `end` into the page cache.
void ReadRange(int file, off_t begin, off_t end, const std::stop_token& stop) {
  std::vector<char> piece(kPiece);
  for (off_t at = begin; at < end && !stop.stop_requested(); at += kPiece) {
    if (::pread(file, piece.data(), piece.size(), at) <= 0) return;
  }
}

}  // namespace

bool HostTakesFreeMemory() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/bus/virtio/drivers/virtio_balloon", ignored)) {
    std::string features;
    if (std::ifstream(entry.path() / "features") >> features && features.size() > kReportsFreePages &&
        features[kReportsFreePages] == '1') {
      return true;
    }
  }
  return false;
}

ColdMachine::ColdMachine(const std::string& folder) {
  if (!HostTakesFreeMemory()) return;
  file_.Reset(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  // Without it every figure would be of the host's memory, and nobody would see it.
  if (!file_) throw std::system_error(errno, std::generic_category(), "making a file without a name in " + folder);
}

bool ColdMachine::DropCaches() {
  ::sync();
  const Mapped held(file_.get(), size_);
  UniqueFd fd(::open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), "3", 1) == 1;
}

void ColdMachine::FillFreeMemory(const std::stop_token& stop) {
  struct sysinfo machine {};
  if (!file_ || ::sysinfo(&machine) != 0) return;
  const off_t more = static_cast<off_t>(machine.freeram) * machine.mem_unit;
  if (::ftruncate(file_.get(), size_ + more) != 0) return;
  // Each page is one fault of the host, which takes several at once.
  const off_t readers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (off_t i = 0; i < readers; ++i) {
    threads.emplace_back([this, more, readers, i, &stop] {
      ReadRange(file_.get(), size_ + more / readers * i, size_ + more / readers * (i + 1), stop);
    });
  }
  threads.clear();
  size_ += more;
}

void WarmFolder(const std::string& folder, const std::set<std::string>& without, const std::stop_token& stop) {
  std::vector<char> piece(1 << 20);
  std::error_code ignored;
  auto entries = std::filesystem::recursive_directory_iterator(folder, ignored);
  for (; entries != std::filesystem::recursive_directory_iterator(); entries.increment(ignored)) {
    const auto& entry = *entries;
    if (without.count(entry.path().filename().string()) > 0) entries.disable_recursion_pending();
    if (!entry.is_regular_file(ignored)) continue;
    UniqueFd fd(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    while (fd && !stop.stop_requested() && ::read(fd.get(), piece.data(), piece.size()) > 0) {
    }
  }
}

}  // namespace soci::bench
