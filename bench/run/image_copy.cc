#include "bench/run/image_copy.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "bench/run/mapped_blob.h"
#include "indexer/base/file_io.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/manifest.h"
#include "indexer/oci/platform.h"
#include "tests/e2e/support/image.h"

namespace soci::bench {
namespace {

constexpr uint64_t kPiece = 8 << 20;

struct Chosen {
  FetchedDocument document;
  oci::Manifest manifest;
};

soci::Result<Chosen> ManifestOfThisMachine(RegistryClient& from, const oci::Reference& image,
                                           const FetchContext& context) {
  SOCI_ASSIGN_OR_RETURN(FetchedDocument document, from.FetchManifest(image, image.ManifestName(), context));
  if (document.media_type == oci::kMediaTypeImageIndex || document.media_type == oci::kMediaTypeDockerManifestList) {
    SOCI_ASSIGN_OR_RETURN(const oci::ImageIndex index, oci::ImageIndex::Parse(document.body));
    const oci::Platform host = oci::HostPlatform();
    const oci::Descriptor* entry = oci::FindPlatform(index, host);
    if (entry == nullptr) return absl::NotFoundError(fmt::format("it has no image for {}", host.ToString()));
    SOCI_ASSIGN_OR_RETURN(document, from.FetchManifest(image, entry->digest.ToString(), context));
  }
  SOCI_ASSIGN_OR_RETURN(oci::Manifest manifest, oci::Manifest::Parse(document.body));
  return Chosen{std::move(document), std::move(manifest)};
}

Status Download(RegistryClient& from, const oci::Reference& image, const oci::Descriptor& blob, const std::string& path,
                const FetchContext& context) {
  SOCI_ASSIGN_OR_RETURN(const auto source, from.OpenBlob(image, blob));
  SOCI_ASSIGN_OR_RETURN(const UniqueFd file, OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC));
  std::vector<std::byte> piece;
  for (uint64_t offset = 0; offset < source->size(); offset += piece.size()) {
    piece.resize(std::min(kPiece, source->size() - offset));
    SOCI_RETURN_IF_ERROR(source->ReadAt(offset, piece, context));
    SOCI_RETURN_IF_ERROR(WriteFullAt(file.get(), offset, piece, path));
  }
  return OkStatus();
}

soci::Result<PushedImage> Copy(RegistryClient& from, const std::string& reference, const test::DockerRegistry& to,
                               const std::string& repository, const std::string& scratch, const std::stop_token& stop) {
  FetchContext context;
  context.stop = stop;
  SOCI_ASSIGN_OR_RETURN(const oci::Reference image, oci::Reference::Parse(reference));
  SOCI_ASSIGN_OR_RETURN(const Chosen chosen, ManifestOfThisMachine(from, image, context));
  PushedImage pushed{repository + ":v1"};
  for (const oci::Descriptor& layer : chosen.manifest.layers) {
    SOCI_RETURN_IF_ERROR(Download(from, image, layer, scratch, context));
    const MappedBlob blob(scratch);
    if (blob.MakeDigest(stop) != layer.digest) {
      return absl::DataLossError(fmt::format("layer {} came with other bytes", layer.digest.ToString()));
    }
    test::PushBlob(to, repository, blob.bytes(), layer.digest, stop);
    pushed.bytes += blob.bytes().size();
    pushed.layers.push_back(layer.digest.Hex());
  }
  SOCI_ASSIGN_OR_RETURN(const std::string config, from.FetchBlob(image, chosen.manifest.config, context));
  test::PushBlob(to, repository, config);
  test::PushManifest(to, repository, "v1", chosen.document.media_type, chosen.document.body);
  return pushed;
}

}  // namespace

PushedImage CopyImage(RegistryClient& from, const std::string& reference, const test::DockerRegistry& to,
                      const std::string& repository, const std::string& scratch, const std::stop_token& stop) {
  auto pushed = Copy(from, reference, to, repository, scratch, stop);
  std::filesystem::remove(scratch);
  if (stop.stop_requested()) throw std::runtime_error("interrupted before the image was copied");
  if (!pushed.ok()) throw std::runtime_error(reference + ": " + std::string(Message(pushed.status())));
  return *std::move(pushed);
}

}  // namespace soci::bench
