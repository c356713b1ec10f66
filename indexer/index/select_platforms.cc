#include "indexer/index/select_platforms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "indexer/oci/annotations.h"
#include "indexer/oci/platform.h"

namespace soci {
namespace {

constexpr int kMaxNesting = 4;
constexpr size_t kMaxEntries = 1000;

bool IsIndexType(std::string_view media_type) {
  return media_type == oci::kMediaTypeImageIndex || media_type == oci::kMediaTypeDockerManifestList;
}

bool IsImage(const oci::Manifest& manifest) {
  return manifest.config.media_type == oci::kMediaTypeImageConfig ||
         manifest.config.media_type == oci::kMediaTypeDockerConfig;
}

Result<oci::ImageConfig> ReadConfig(ImageHome& home, const oci::Manifest& manifest, const FetchContext& context) {
  const std::string what = fmt::format("image config {}", manifest.config.digest.ToString());
  Result<std::string> document = home.Read(manifest.config, oci::kMaxDocumentBytes, context);
  if (!document.ok()) return Annotate(document.status(), what);
  Result<oci::ImageConfig> config = oci::ImageConfig::Parse(*document);
  if (!config.ok()) return Annotate(config.status(), what);
  return config;
}

class Selection {
 public:
  Selection(ImageHome& home, const FetchContext& context) : home_(home), context_(context) {}

  // Puts the image entries below `entry` into the list.
  Status Collect(const oci::Descriptor& entry, int nesting) {
    if (!IsIndexType(entry.media_type)) {
      if (oci::IsImageEntry(entry)) {
        entries_.push_back(entry);
      } else if (nesting == 0) {
        return absl::InvalidArgumentError(fmt::format("not an image: its media type is \"{}\"", entry.media_type));
      }
      return OkStatus();
    }
    if (nesting > kMaxNesting) return absl::InvalidArgumentError("image indexes are nested too deep");
    const std::string what = fmt::format("image index {}", entry.digest.ToString());
    Result<std::string> document = home_.Read(entry, oci::kMaxDocumentBytes, context_);
    if (!document.ok()) return Annotate(document.status(), what);
    Result<oci::ImageIndex> index = oci::ImageIndex::Parse(*document);
    if (!index.ok()) return Annotate(index.status(), what);
    for (const oci::Descriptor& inner : index->manifests) {
      SOCI_RETURN_IF_ERROR(Collect(inner, nesting + 1));
      if (entries_.size() > kMaxEntries) return absl::InvalidArgumentError(what + ": too many entries");
    }
    return OkStatus();
  }

  // Takes the entries in order, the first of each platform that `wanted` has (empty: all).
  Result<SelectedImages> Take(const std::vector<oci::Platform>& wanted) {
    for (const oci::Descriptor& entry : entries_) {
      if (entry.platform && !IsWanted(wanted, *entry.platform)) continue;
      Result<PlatformImage> image = Load(entry);
      if (image.ok()) {
        if (!IsImage(image->manifest)) continue;
        if (IsWanted(wanted, image->platform)) Add(*std::move(image));
      } else if (entries_.size() == 1 || !IsDamageOrAbsence(image.status())) {
        return image.status();
      } else {
        selected_.absent.push_back({entry.platform ? entry.platform->ToString() : "unknown", image.status()});
      }
    }
    return Ordered(wanted);
  }

 private:
  static bool IsWanted(const std::vector<oci::Platform>& wanted, const oci::Platform& platform) {
    return wanted.empty() || std::any_of(wanted.begin(), wanted.end(),
                                         [&](const oci::Platform& one) { return oci::Matches(one, platform); });
  }

  static bool IsDamageOrAbsence(const Status& status) {
    return absl::IsNotFound(status) || absl::IsDataLoss(status) || absl::IsInvalidArgument(status);
  }

  Result<PlatformImage> Load(const oci::Descriptor& entry) {
    const std::string what = fmt::format("image manifest {}", entry.digest.ToString());
    Result<std::string> document = home_.Read(entry, oci::kMaxDocumentBytes, context_);
    if (!document.ok()) return Annotate(document.status(), what);
    Result<oci::Manifest> manifest = oci::Manifest::Parse(*document);
    if (!manifest.ok()) return Annotate(manifest.status(), what);
    PlatformImage image{.descriptor = {.media_type = entry.media_type, .digest = entry.digest, .size = entry.size},
                        .platform = {},
                        .manifest = *std::move(manifest)};
    if (entry.platform) {
      image.platform = *entry.platform;
    } else if (IsImage(image.manifest)) {
      SOCI_ASSIGN_OR_RETURN(const oci::ImageConfig config, ReadConfig(home_, image.manifest, context_));
      image.platform = config.platform;
    }
    return image;
  }

  void Add(PlatformImage image) {
    const bool known = std::any_of(selected_.images.begin(), selected_.images.end(), [&](const PlatformImage& other) {
      return oci::Matches(other.platform, image.platform);
    });
    if (!known) selected_.images.push_back(std::move(image));
  }

  Result<SelectedImages> Ordered(const std::vector<oci::Platform>& wanted) {
    std::vector<PlatformImage> ordered;
    for (const oci::Platform& platform : wanted) {
      auto found = std::find_if(selected_.images.begin(), selected_.images.end(),
                                [&](const PlatformImage& image) { return oci::Matches(platform, image.platform); });
      if (found == selected_.images.end()) {
        // Asked for by name, but its manifest could not be had: that is the reason to tell.
        if (!selected_.absent.empty()) return selected_.absent.front().reason;
        return absl::NotFoundError(fmt::format("platform {} is not in the image", platform.ToString()));
      }
      const bool twice = std::any_of(ordered.begin(), ordered.end(), [&](const PlatformImage& image) {
        return image.descriptor.digest == found->descriptor.digest;
      });
      if (!twice) ordered.push_back(*found);
    }
    if (!wanted.empty()) selected_.images = std::move(ordered);
    if (selected_.images.empty() && !selected_.absent.empty()) return selected_.absent.front().reason;
    if (selected_.images.empty()) return absl::InvalidArgumentError("not an image: it holds no image manifest");
    return std::move(selected_);
  }

  ImageHome& home_;
  const FetchContext& context_;
  std::vector<oci::Descriptor> entries_;
  SelectedImages selected_;
};

}  // namespace

Result<SelectedImages> SelectPlatforms(ImageHome& home, const std::vector<oci::Platform>& wanted,
                                       const FetchContext& context) {
  SOCI_ASSIGN_OR_RETURN(std::vector<oci::Descriptor> roots, home.Resolve(context));
  Selection selection(home, context);
  for (const oci::Descriptor& root : roots) SOCI_RETURN_IF_ERROR(selection.Collect(root, 0));
  return selection.Take(wanted);
}

Result<std::vector<oci::DiffId>> ReadDiffIds(ImageHome& home, const PlatformImage& image, const FetchContext& context) {
  SOCI_ASSIGN_OR_RETURN(oci::ImageConfig config, ReadConfig(home, image.manifest, context));
  if (config.diff_ids.size() != image.manifest.layers.size()) {
    return absl::InvalidArgumentError(fmt::format("image config {} has {} DiffIDs for {} layers",
                                                  image.manifest.config.digest.ToString(), config.diff_ids.size(),
                                                  image.manifest.layers.size()));
  }
  return std::move(config.diff_ids);
}

}  // namespace soci
