#include "bench/micro/decode/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "indexer/codec/stream_decoder.h"
#include "tests/gzip/gzip_maker.h"
#include "tests/gzip/scanned_gzip.h"

namespace soci::bench {
namespace {

namespace fs = std::filesystem;

std::string TarMember(const std::string& name, const std::string& content) {
  std::string member(512, '\0');
  const auto put = [&member](size_t at, const std::string& text) { member.replace(at, text.size(), text); };
  put(0, name.substr(0, 99));
  put(124, fmt::format("{:011o}", content.size()));
  put(156, "0");
  put(148, "        ");
  unsigned sum = 0;
  for (char byte : member) sum += static_cast<uint8_t>(byte);
  put(148, fmt::format("{:06o}", sum) + '\0');
  member += content;
  member.resize((member.size() + 511) / 512 * 512);
  return member;
}

// A tar with the files below `folder` whose names contain `part`, in order, up to `size`.
std::string FilesBelow(const std::string& folder, std::string_view part, size_t size) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (const auto& file :
       fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, ignored)) {
    if (file.is_regular_file(ignored) && file.path().filename().string().find(part) != std::string::npos) {
      paths.push_back(file.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::string bytes;
  for (const fs::path& path : paths) {
    if (bytes.size() >= size) break;
    if (fs::file_size(path, ignored) > 16 << 20) continue;
    std::ifstream file(path, std::ios::binary);
    bytes += TarMember(path.filename().string(), {std::istreambuf_iterator<char>(file), {}});
  }
  return bytes + std::string(1024, '\0');
}

std::string Weights(size_t size) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.02F);
  std::string floats;
  std::string bfloats;
  while (floats.size() < size / 2) {
    const float number = normal(random);
    floats.append(reinterpret_cast<const char*>(&number), 4);
    bfloats.append(reinterpret_cast<const char*>(&number) + 2, 2);
  }
  return TarMember("floats", floats) + TarMember("bfloats", bfloats) + std::string(1024, '\0');
}

Result<uint64_t> DecodedSize(const std::string& gzip) {
  test::TextStream stream(gzip);
  const auto decoded = DecodeStream(stream, StreamFormat::kGzip);
  std::vector<std::byte> buffer(1 << 18);
  uint64_t size = 0;
  while (true) {
    SOCI_ASSIGN_OR_RETURN(const size_t count, decoded->Read(buffer));
    if (count == 0) return size;
    size += count;
  }
}

}  // namespace

Result<Sample> ReadSample(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError("cannot open " + path);
  Sample sample{.name = fs::path(path).filename().string(), .gzip = {std::istreambuf_iterator<char>(file), {}}};
  SOCI_ASSIGN_OR_RETURN(sample.decoded_size, DecodedSize(sample.gzip));
  return sample;
}

std::vector<Sample> MakeSamples(size_t size) {
  std::vector<Sample> samples;
  const auto add = [&samples](std::string name, const std::string& bytes) {
    samples.push_back({std::move(name), test::GzipMember(bytes), bytes.size()});
  };
  add("text", FilesBelow("/usr/include", "", size));
  add("code", FilesBelow("/usr/lib", ".so", size));
  add("weights", Weights(size));
  return samples;
}

}  // namespace soci::bench
