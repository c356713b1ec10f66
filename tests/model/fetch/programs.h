// Programs that read layers in a simulation: one after the other a read, its answer, a thought, the next read.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/model/fetch/simulation.h"

namespace soci::test {

struct ProgramRead {
  std::chrono::microseconds think{0};  // before it
  uint32_t layer = 0;
  InodeId file{};
  UncompressedRange content;  // of the file
  UncompressedRange wanted;
};

class Program {
 public:
  Program(Simulation& simulation, std::vector<ProgramRead> reads) : simulation_(simulation), reads_(std::move(reads)) {}

  void Start() { ThinkThenRead(); }
  bool done() const { return next_ == reads_.size(); }
  double done_at() const { return done_at_; }
  // Reads that waited, and each one's wait in seconds (0 for those that did not).
  size_t waits() const { return waits_; }
  const std::vector<double>& waited() const { return waited_; }

 private:
  void ThinkThenRead();
  void Read();

  Simulation& simulation_;
  const std::vector<ProgramRead> reads_;
  size_t next_ = 0;
  size_t waits_ = 0;
  double asked_at_ = 0;
  double done_at_ = 0;
  std::vector<double> waited_;
};

// A file of `size` bytes at the start of layer 0, in pieces of 128 KiB.
std::vector<ProgramRead> ReadInOrder(uint64_t size, std::chrono::microseconds think);
// Pages anywhere in it.
std::vector<ProgramRead> ReadAtRandom(uint64_t size, size_t count, std::chrono::microseconds think, uint64_t seed);

// What a program read of a real image.
struct ProgramTrace {
  std::vector<SpanMap> layers;
  std::vector<std::vector<UncompressedRange>> files = {};  // of each layer, those that are read
  std::vector<ProgramRead> reads;

  // `import_torch`, `node` or `java`. Throws std::runtime_error.
  static ProgramTrace Load(const std::string& name);
  // Distinct spans it touches, and their compressed bytes.
  struct Touched {
    size_t spans = 0;
    uint64_t bytes = 0;
  };
  Touched touched() const;
};

}  // namespace soci::test
