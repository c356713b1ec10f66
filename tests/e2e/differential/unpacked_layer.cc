#include "tests/e2e/differential/unpacked_layer.h"

#include <filesystem>
#include <regex>
#include <stdexcept>

#include "indexer/oci/annotations.h"
#include "tests/e2e/support/image.h"
#include "tests/support/tar_builder.h"

namespace soci::test {
namespace {

// Below another layer, as only then containerd keeps whiteouts; with nothing in it that any test layer has.
TarBuilder BaseTar() { return TarBuilder().Directory("zz-base").File("zz-base/file", "base"); }

void Must(const CommandResult& result, const std::string& what) {
  if (!result.ok()) throw std::runtime_error(what + ": " + result.err + result.out);
}

}  // namespace

std::string UnpackByContainerd(const Sandbox& sandbox, const Containerd& containerd, const std::string& name,
                               const IndexedLayer& layer) {
  const std::string media_type(layer.ztoc.compression == Compression::kGzip ? oci::kMediaTypeLayerGzip
                                                                            : oci::kMediaTypeLayerTar);
  TestImage image;
  image.Add(GzipLayer(BaseTar().Finish())).Add(StoredLayer(layer.blob, media_type, layer.tar));
  const std::string folder = sandbox / ("layout-" + name);
  image.WriteLayout(folder, "test/" + name + ":v1");
  Must(RunCommand({"tar", "-C", folder, "-cf", folder + ".tar", "."}), "packing the layout");
  Must(containerd.Ctr({"images", "import", "--snapshotter", "overlayfs", folder + ".tar"}), "importing " + name);

  const oci::ChainId chain = oci::Stack(oci::Stack({}, image.layers()[0].diff_id), image.layers()[1].diff_id);
  // Not a view: ctr leaves those to the collector.
  const CommandResult mounts = containerd.Ctr(
      {"snapshots", "--snapshotter", "overlayfs", "prepare", "--target", "/target", "on-" + name, chain.ToString()});
  Must(mounts, "preparing on " + name);
  std::smatch match;
  if (!std::regex_search(mounts.out, match, std::regex("lowerdir=([^:,]+):"))) {
    throw std::runtime_error("no lowerdir in: " + mounts.out + mounts.err);
  }
  std::filesystem::remove_all(folder);
  std::filesystem::remove(folder + ".tar");
  return match[1];
}

}  // namespace soci::test
