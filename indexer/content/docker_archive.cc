#include "indexer/content/docker_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "indexer/base/file_io.h"
#include "indexer/content/read_blob.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/docker_save.h"
#include "indexer/oci/reference.h"

namespace soci {
namespace {

constexpr char kManifestName[] = "manifest.json";

// One archive on its way from Docker's names to those of a layout.
class Conversion {
 public:
  Conversion(std::string path, TarMembers members) : path_(std::move(path)), members_(std::move(members)) {}

  Result<std::unique_ptr<OciArchive>> Convert(const std::string& output);

 private:
  Status AddImage(const oci::SavedImage& saved);
  Result<oci::Descriptor> TakeConfig(const std::string& name, oci::ImageConfig& config);
  Result<oci::Descriptor> TakeLayer(const std::string& name, const oci::DiffId& diff_id);
  Result<const TarMember*> Find(const std::string& name) const;
  void Move(const std::string& name, const TarMember& member, const oci::Digest& digest);
  void DropLinks();

  const std::string path_;
  TarMembers members_;
  ArchiveEdits edits_;
  std::map<std::string, std::string> document_names_;  // as in manifest.json -> new
  std::map<oci::Digest, std::string> manifests_;
  oci::ImageIndex index_{.media_type = std::string(oci::kMediaTypeImageIndex)};
};

Result<const TarMember*> Conversion::Find(const std::string& name) const {
  const TarMember* member = members_.FindFile(CleanMemberName(name));
  if (member == nullptr)
    return absl::InvalidArgumentError(fmt::format("manifest.json names {}, which is not there", name));
  return member;
}

void Conversion::Move(const std::string& name, const TarMember& member, const oci::Digest& digest) {
  const std::string blob = OciArchive::BlobName(digest);
  document_names_[name] = blob;
  if (member.name != blob) edits_.renamed[member.name] = blob;
  members_.AddName(blob, member);
}

Result<oci::Descriptor> Conversion::TakeConfig(const std::string& name, oci::ImageConfig& config) {
  SOCI_ASSIGN_OR_RETURN(const TarMember* member, Find(name));
  SOCI_ASSIGN_OR_RETURN(const std::string bytes, members_.Read(member->name, oci::kMaxDocumentBytes));
  SOCI_ASSIGN_OR_RETURN(config, oci::ImageConfig::Parse(bytes));
  const oci::Digest digest = oci::Digest::Of(bytes);
  Move(name, *member, digest);
  return oci::Descriptor{.media_type = std::string(oci::kMediaTypeDockerConfig),
                         .digest = digest,
                         .size = static_cast<int64_t>(bytes.size())};
}

// The digest that a name like "0123...cdef.tar.gz" tells; whoever reads the layer proves it.
std::optional<oci::Digest> DigestInName(const std::string& name) {
  const std::string stem = std::filesystem::path(name).filename().string();
  Result<oci::Digest> digest = oci::Digest::Parse("sha256:" + stem.substr(0, stem.find('.')));
  return digest.ok() ? std::optional(*digest) : std::nullopt;
}

// Docker saves plain tars, whose digest is the DiffID of the config; other tools save compressed layers.
Result<oci::Descriptor> Conversion::TakeLayer(const std::string& name, const oci::DiffId& diff_id) {
  SOCI_ASSIGN_OR_RETURN(const TarMember* member, Find(name));
  const std::unique_ptr<ByteSource> source = members_.Open(*member);
  ByteBuffer head(std::min<uint64_t>(2, member->size));
  SOCI_RETURN_IF_ERROR(source->ReadAt(0, head, {}));
  const bool gzip = head == ByteBuffer{std::byte{0x1f}, std::byte{0x8b}};
  oci::Descriptor layer{.media_type = std::string(gzip ? oci::kMediaTypeDockerLayerGzip : oci::kMediaTypeDockerLayer),
                        .digest = diff_id,
                        .size = static_cast<int64_t>(member->size)};
  if (gzip) {
    const std::optional<oci::Digest> told = DigestInName(name);
    SOCI_ASSIGN_OR_RETURN(layer.digest, told ? Result<oci::Digest>(*told) : HashAll(*source));
  }
  Move(name, *member, layer.digest);
  return layer;
}

Status Conversion::AddImage(const oci::SavedImage& saved) {
  oci::Manifest manifest{.media_type = std::string(oci::kMediaTypeDockerManifest)};
  oci::ImageConfig config;
  SOCI_ASSIGN_OR_RETURN(manifest.config, TakeConfig(saved.config, config));
  if (config.diff_ids.size() != saved.layers.size()) {
    return absl::InvalidArgumentError(
        fmt::format("manifest.json names {} layers, the config {}", saved.layers.size(), config.diff_ids.size()));
  }
  for (size_t i = 0; i < saved.layers.size(); ++i) {
    SOCI_ASSIGN_OR_RETURN(oci::Descriptor layer, TakeLayer(saved.layers[i], config.diff_ids[i]));
    manifest.layers.push_back(std::move(layer));
  }
  const std::string json = manifest.ToJson();
  oci::Descriptor entry{
      .media_type = manifest.media_type, .digest = oci::Digest::Of(json), .size = static_cast<int64_t>(json.size())};
  manifests_[entry.digest] = json;
  for (const std::string& tag : saved.tags) {
    oci::Descriptor named = entry;
    SOCI_ASSIGN_OR_RETURN(const oci::Reference reference, oci::Reference::Parse(tag));
    named.annotations[std::string(oci::kAnnotationContainerdName)] = reference.ToString();
    named.annotations[std::string(oci::kAnnotationRefName)] = reference.tag;
    index_.manifests.push_back(std::move(named));
  }
  if (saved.tags.empty()) index_.manifests.push_back(std::move(entry));
  return OkStatus();
}

// A layer that occurs again is a symbolic link to the first; both names are in manifest.json no more.
void Conversion::DropLinks() {
  for (const TarMember& member : members_.all()) {
    if (member.is_file || member.link_target.empty()) continue;
    const TarMember* file = members_.FindFile(member.name);
    if (file != nullptr && edits_.renamed.contains(file->name)) edits_.dropped.insert(member.name);
  }
}

Result<std::unique_ptr<OciArchive>> Conversion::Convert(const std::string& output) {
  SOCI_ASSIGN_OR_RETURN(const std::string document, members_.Read(kManifestName, oci::kMaxDocumentBytes));
  SOCI_ASSIGN_OR_RETURN(const std::vector<oci::SavedImage> saved, oci::ParseSavedImages(document));
  for (const oci::SavedImage& image : saved) SOCI_RETURN_IF_ERROR(AddImage(image));
  DropLinks();
  SOCI_ASSIGN_OR_RETURN(edits_.replaced[kManifestName], oci::RenameSavedFiles(document, document_names_));
  edits_.replaced["oci-layout"] = R"({"imageLayoutVersion":"1.0.0"})";
  auto archive = std::make_unique<OciArchive>(path_, output, std::move(members_), std::move(edits_), index_.ToJson());
  for (const auto& [digest, json] : manifests_) archive->Keep(digest, json);
  return archive;
}

}  // namespace

Result<std::unique_ptr<OciArchive>> OpenDockerArchive(const std::string& path, const std::string& output) {
  SOCI_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, OpenFileSource(path));
  Result<TarMembers> members = TarMembers::Scan(std::move(file));
  if (!members.ok()) return Annotate(members.status(), path);
  if (members->FindFile("oci-layout") != nullptr) return OciArchive::Open(path, output);
  if (members->FindFile(kManifestName) == nullptr) {
    return absl::InvalidArgumentError(fmt::format("{}: not a docker archive: it has no file manifest.json", path));
  }
  Result<std::unique_ptr<OciArchive>> archive = Conversion(path, *std::move(members)).Convert(output);
  if (!archive.ok()) return Annotate(archive.status(), path);
  return archive;
}

}  // namespace soci
