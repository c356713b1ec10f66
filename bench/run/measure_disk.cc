#include "bench/run/measure_disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/run/host_network.h"
#include "bench/run/limited_disk.h"
#include "indexer/base/unique_fd.h"

namespace soci::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kPieceBytes = 1 << 20;
constexpr uint64_t kSeconds = 3;

double Rate(uint64_t bytes, SteadyClock::time_point start) {
  return static_cast<double>(bytes) / std::chrono::duration<double>(SteadyClock::now() - start).count();
}

[[noreturn]] void Throw(const std::string& path) { throw std::runtime_error(path + ": " + std::strerror(errno)); }

DiskRates MeasureFile(const std::string& path, uint64_t pieces) {
  std::vector<char> piece(kPieceBytes, 'x');
  DiskRates rates;
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) Throw(path);
  auto start = SteadyClock::now();
  for (uint64_t i = 0; i < pieces; ++i) {
    if (::write(file.get(), piece.data(), piece.size()) != static_cast<ssize_t>(piece.size())) Throw(path);
  }
  if (::fdatasync(file.get()) != 0) Throw(path);
  rates.written = Rate(pieces * kPieceBytes, start);
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  ::lseek(file.get(), 0, SEEK_SET);
  start = SteadyClock::now();
  for (uint64_t i = 0; i < pieces; ++i) {
    if (::read(file.get(), piece.data(), piece.size()) != static_cast<ssize_t>(piece.size())) Throw(path);
  }
  rates.read = Rate(pieces * kPieceBytes, start);
  return rates;
}

}  // namespace

DiskRates MeasureDisk(uint64_t bytes_per_second) {
  DiskRates rates;
  std::exception_ptr failure;
  std::thread([&] {
    try {
      EnterOwnMounts();
      const test::Sandbox sandbox([](const std::string&) {});
      const LimitedDisk disk(sandbox, bytes_per_second);
      rates = MeasureFile(sandbox / "file", std::max<uint64_t>(kSeconds * bytes_per_second / kPieceBytes, 1));
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
  return rates;
}

}  // namespace soci::bench
