#include "bench/demo/image.h"

#include <stdexcept>

#include "indexer/base/file_io.h"
#include "indexer/oci/annotations.h"

namespace soci::demo {
namespace {

template <typename T>
T OrThrow(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(std::string(Message(result.status())));
  return *std::move(result);
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

test::TestImage ReadImage(const std::string& layers_folder) {
  test::TestImage image;
  for (const std::string& name : Lines(OrThrow(ReadFile(layers_folder + "/LAYERS")))) {
    const std::string path = layers_folder + "/" + name;
    std::string blob = OrThrow(ReadFile(path + ".tar.gz", uint64_t{4} << 30));
    const oci::Digest digest = oci::Digest::Of(blob);
    const oci::DiffId diff_id = OrThrow(oci::DiffId::Parse(Lines(OrThrow(ReadFile(path + ".diff_id"))).at(0)));
    image.Add({std::move(blob), std::string(oci::kMediaTypeLayerGzip), digest, diff_id});
  }
  return image;
}

}  // namespace soci::demo
