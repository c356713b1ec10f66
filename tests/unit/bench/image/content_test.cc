#include "bench/image/content.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "bench/image/random.h"

namespace soci::bench {
namespace {

std::string Bytes(const FileContent& content, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  content.Fill(offset, bytes.data(), size);
  return bytes;
}

double Ratio(const std::string& path) {
  const std::string bytes = Bytes(FileContent(1, path), 0, 1 << 20);
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 6);
  return static_cast<double>(bytes.size()) / static_cast<double>(size);
}

TEST(FileContent, AnyPartOfAFileIsTheSameHoweverItIsReached) {
  const FileContent content(7, "usr/lib/liba.so");
  const std::string whole = Bytes(content, 0, 10'000);
  for (const auto& [offset, size] : {std::pair<size_t, size_t>{0, 1}, {511, 2}, {512, 512}, {3'333, 5'000}}) {
    EXPECT_EQ(Bytes(content, offset, size), whole.substr(offset, size));
    EXPECT_EQ(content.Matching(offset, whole.data() + offset, size), size);
  }
}

TEST(FileContent, OneWrongByteIsFoundWhereItIs) {
  const FileContent content(7, "a.py");
  std::string bytes = Bytes(content, 100, 3'000);
  for (const size_t at : {size_t{0}, size_t{411}, size_t{412}, size_t{2'999}}) {
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_EQ(content.Matching(100, bytes.data(), bytes.size()), at);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
  }
}

TEST(FileContent, OtherFilesOtherSeedsAndOtherPlacesHaveOtherBytes) {
  const std::string bytes = Bytes(FileContent(1, "a.so"), 0, 4096);
  EXPECT_NE(Bytes(FileContent(2, "a.so"), 0, 4096), bytes);
  EXPECT_NE(Bytes(FileContent(1, "b.so"), 0, 4096), bytes);
  EXPECT_NE(Bytes(FileContent(1, "a.so"), 4096, 4096), bytes);
}

TEST(FileContent, CompressesAsSuchFilesDo) {
  EXPECT_GT(Ratio("a.py"), 3);
  EXPECT_GT(Ratio("a.so"), 1.8);
  EXPECT_LT(Ratio("a.so"), 3.2);
  EXPECT_GT(Ratio("a.safetensors"), 1.1);
  EXPECT_LT(Ratio("a.safetensors"), 1.6);
  EXPECT_LT(Ratio("a.jpg"), 1.05);
}

// The same on every machine and with every compiler, or images would not have the same digests.
TEST(FileContent, IsWhatItAlwaysWas) {
  const auto hash = [](const std::string& path) { return HashText(Bytes(FileContent(1, path), 1'000'000, 100'000)); };
  EXPECT_EQ(hash("a.py"), 6939527779498165076u);
  EXPECT_EQ(hash("a.so"), 1650758103287379274u);
  EXPECT_EQ(hash("a.safetensors"), 574709830348457972u);
  EXPECT_EQ(hash("a.jpg"), 8837416101094259854u);
}

}  // namespace
}  // namespace soci::bench
