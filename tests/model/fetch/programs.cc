#include "tests/model/fetch/programs.h"

#include <zlib.h>

#include <random>
#include <set>
#include <sstream>
#include <stdexcept>

namespace soci::test {
namespace {

std::string Unzip(const std::string& path) {
  const gzFile file = ::gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path);
  std::string text;
  std::vector<char> piece(1 << 16);
  int count;
  while ((count = ::gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0) {
    text.append(piece.data(), static_cast<size_t>(count));
  }
  ::gzclose(file);
  if (count < 0) throw std::runtime_error("cannot unzip " + path);
  return text;
}

}  // namespace

void Program::ThinkThenRead() {
  if (done()) {
    done_at_ = simulation_.now_seconds();
    return;
  }
  simulation_.After(reads_[next_].think, [this] { Read(); });
}

void Program::Read() {
  const ProgramRead& read = reads_[next_];
  asked_at_ = simulation_.now_seconds();
  SimulatedLayer& layer = *simulation_.layers()[read.layer];
  const bool waits = layer.Read(read.file, read.content, read.wanted, [this] {
    waited_.push_back(simulation_.now_seconds() - asked_at_);
    simulation_.link().Watch(false);
    ++next_;
    ThinkThenRead();
  });
  if (!waits) return;
  ++waits_;
  simulation_.link().Watch(true);
}

std::vector<ProgramRead> ReadInOrder(uint64_t size, std::chrono::microseconds think) {
  constexpr uint64_t kPiece = 128 << 10;
  std::vector<ProgramRead> reads;
  for (uint64_t begin = 0; begin < size; begin += kPiece) {
    reads.push_back({think, 0, InodeId{2}, {0, size}, {begin, std::min(size, begin + kPiece)}});
  }
  return reads;
}

std::vector<ProgramRead> ReadAtRandom(uint64_t size, size_t count, std::chrono::microseconds think, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ProgramRead> reads;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t begin = random() % (size / 4096) * 4096;
    reads.push_back({think, 0, InodeId{2}, {0, size}, {begin, begin + 4096}});
  }
  return reads;
}

ProgramTrace ProgramTrace::Load(const std::string& name) {
  ProgramTrace trace;
  std::istringstream lines(Unzip(SOCI_SOURCE_DIR "/tests/model/fetch/" + name + ".txt.gz"));
  struct File {
    uint32_t layer = 0;
    InodeId inode{};
    UncompressedRange content;
  };
  std::vector<File> files;
  std::string word;
  while (lines >> word) {
    if (word == "layer") {
      uint64_t compressed, uncompressed;
      lines >> compressed >> uncompressed;
      trace.layers.push_back({{compressed}, {uncompressed}});
      trace.files.emplace_back();
    } else if (word == "span") {
      uint64_t compressed, uncompressed;
      lines >> compressed >> uncompressed;
      SpanMap& map = trace.layers.back();
      map.compressed.push_back(map.compressed.back() + compressed);
      map.uncompressed.push_back(map.uncompressed.back() + uncompressed);
    } else if (word == "file") {
      File file;
      uint64_t size;
      lines >> file.layer >> file.content.begin >> size;
      file.content.end = file.content.begin + size;
      std::vector<UncompressedRange>& of_layer = trace.files.at(file.layer);
      file.inode = InodeId{of_layer.size() + 2};
      of_layer.push_back(file.content);
      files.push_back(file);
    } else {
      int64_t think;
      size_t file;
      uint64_t offset, size;
      lines >> think >> file >> offset >> size;
      const File& of = files.at(file);
      const uint64_t begin = of.content.begin + offset;
      trace.reads.push_back({std::chrono::microseconds(think), of.layer, of.inode, of.content, {begin, begin + size}});
    }
    if (!lines) throw std::runtime_error("the trace is malformed");
  }
  return trace;
}

ProgramTrace::Touched ProgramTrace::touched() const {
  std::set<std::pair<uint32_t, size_t>> spans;
  Touched touched;
  for (const ProgramRead& read : reads) {
    const SpanMap& map = layers[read.layer];
    for (size_t i = 0; i + 1 < map.compressed.size(); ++i) {
      const UncompressedRange span{map.uncompressed[i], map.uncompressed[i + 1]};
      if (!span.Overlaps(read.wanted) || !spans.insert({read.layer, i}).second) continue;
      ++touched.spans;
      touched.bytes += map.compressed[i + 1] - map.compressed[i];
    }
  }
  return touched;
}

}  // namespace soci::test
