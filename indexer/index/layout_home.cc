#include "indexer/index/layout_home.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "indexer/content/oci_store.h"
#include "indexer/content/read_blob.h"
#include "indexer/oci/annotations.h"

namespace soci {
namespace {

class LayoutHome : public ImageHome {
 public:
  LayoutHome(std::unique_ptr<OciStore> layout, LayoutImage image)
      : layout_(std::move(layout)), image_(std::move(image)) {}

  std::string Name() const override { return image_.name; }

  Result<std::vector<oci::Descriptor>> Resolve(const FetchContext& context) override {
    if (image_.digest) {
      SOCI_ASSIGN_OR_RETURN(oci::Descriptor descriptor, ResolveDigest(*image_.digest, context));
      return std::vector{descriptor};
    }
    SOCI_ASSIGN_OR_RETURN(std::vector<oci::Descriptor> images, layout_->FindImages(image_.tag));
    // One image may have several names.
    std::vector<oci::Descriptor> distinct;
    for (oci::Descriptor& image : images) {
      const bool known = std::any_of(distinct.begin(), distinct.end(),
                                     [&](const oci::Descriptor& other) { return other.digest == image.digest; });
      if (!known) distinct.push_back(std::move(image));
    }
    images = std::move(distinct);
    if (images.empty()) {
      return absl::NotFoundError(image_.tag.empty() ? "there is no image" : "there is no image of this name");
    }
    const bool flat_list = std::all_of(images.begin(), images.end(), [](const auto& image) { return image.platform; });
    if (images.size() > 1 && !flat_list) {
      return absl::InvalidArgumentError(fmt::format("there are {} images; name one after a colon", images.size()));
    }
    return images;
  }

  Result<oci::Descriptor> ResolveDigest(const oci::Digest& digest, const FetchContext&) override {
    SOCI_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, layout_->Open(digest));
    oci::Descriptor descriptor{.digest = digest, .size = static_cast<int64_t>(source->size())};
    SOCI_ASSIGN_OR_RETURN(std::string document, ReadBlob(*layout_, descriptor));
    SOCI_ASSIGN_OR_RETURN(descriptor.media_type, oci::DocumentMediaType(document));
    return descriptor;
  }

  Result<std::string> Read(const oci::Descriptor& blob, uint64_t limit, const FetchContext&) override {
    return ReadBlob(*layout_, blob, limit);
  }

  Result<std::unique_ptr<ByteSource>> Open(const oci::Descriptor& blob) override {
    SOCI_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, layout_->Open(blob.digest));
    if (source->size() != static_cast<uint64_t>(blob.size)) {
      return absl::DataLossError(fmt::format("{} bytes, but {} are promised", source->size(), blob.size));
    }
    return source;
  }

  Result<std::vector<oci::Descriptor>> FindReferrers(const oci::Digest& subject, std::string_view artifact_type,
                                                     const FetchContext&) override {
    return layout_->FindReferrers(subject, artifact_type);
  }

  Status PutBlob(const oci::Descriptor& blob, std::string bytes) override {
    return layout_->Put(blob, std::move(bytes));
  }

  Status PutReferrer(const oci::Descriptor& manifest, std::string_view json, const oci::Digest&) override {
    SOCI_RETURN_IF_ERROR(layout_->Put(manifest, std::string(json)));
    return layout_->List(manifest);
  }

  Status Tag(const oci::Descriptor&, std::string_view, const std::string&) override {
    return absl::UnimplementedError("an index that is in no registry has no tag of its own");
  }

  Status Commit() override { return layout_->Commit(); }

 private:
  const std::unique_ptr<OciStore> layout_;
  const LayoutImage image_;
};

}  // namespace

std::unique_ptr<ImageHome> MakeLayoutHome(std::unique_ptr<OciStore> layout, LayoutImage image) {
  return std::make_unique<LayoutHome>(std::move(layout), std::move(image));
}

}  // namespace soci
