#include "indexer/index/record_artifact.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "indexer/index/index_builder.h"
#include "indexer/index/registry_home.h"
#include "indexer/oci/annotations.h"
#include "indexer/record/record_codec.h"

namespace soci {
namespace {

// Anybody who may push can add referrers: so many are looked at, no more.
constexpr size_t kMaxCandidates = 8;

size_t RunCount(const Record& record) { return std::max<size_t>(1, record.runs.size()); }

// What the annotation claims; 0 if that is no number that a record may have.
size_t ClaimedRuns(const oci::Annotations& annotations) {
  const auto annotation = annotations.find(std::string(oci::kAnnotationRecordRuns));
  if (annotation == annotations.end()) return 0;
  const std::string& text = annotation->second;
  size_t runs = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), runs);
  return error == std::errc() && end == text.data() + text.size() && runs <= kMostRecordRuns ? runs : 0;
}

// In the order in which they are tried.
std::vector<oci::Descriptor> Candidates(std::vector<oci::Descriptor> referrers) {
  std::erase_if(referrers, [](const oci::Descriptor& one) {
    return one.media_type != oci::kMediaTypeManifest || one.artifact_type != oci::kArtifactTypeRecord;
  });
  std::sort(referrers.begin(), referrers.end(), [](const oci::Descriptor& a, const oci::Descriptor& b) {
    const size_t runs_a = ClaimedRuns(a.annotations), runs_b = ClaimedRuns(b.annotations);
    return runs_a != runs_b ? runs_a > runs_b : a.digest < b.digest;
  });
  if (referrers.size() > kMaxCandidates) referrers.resize(kMaxCandidates);
  return referrers;
}

Status Malformed(std::string_view what) { return absl::InvalidArgumentError(std::string(what)); }

Result<Record> ReadRecord(ImageHome& home, const oci::Descriptor& artifact, const oci::Digest& image,
                          const FetchContext& context) {
  SOCI_ASSIGN_OR_RETURN(const std::string document, home.Read(artifact, oci::kMaxDocumentBytes, context));
  SOCI_ASSIGN_OR_RETURN(const oci::Manifest manifest, oci::Manifest::Parse(document));
  if (manifest.artifact_type != oci::kArtifactTypeRecord) return Malformed("its manifest is of another type");
  if (!manifest.subject || manifest.subject->digest != image) {
    return Malformed("it is listed for this image, but is about another");
  }
  if (manifest.layers.size() != 1 || manifest.layers[0].media_type != oci::kMediaTypeRecord) {
    return Malformed("its manifest does not list one record");
  }
  SOCI_ASSIGN_OR_RETURN(const std::string bytes, home.Read(manifest.layers[0], kMostRecordBytes, context));
  SOCI_ASSIGN_OR_RETURN(Record record, DecodeRecordOf(image, bytes));
  // Else one could be put before all others for nothing.
  if (ClaimedRuns(artifact.annotations) > RunCount(record)) return Malformed("it is of fewer runs than it says");
  return record;
}

oci::Descriptor BlobOf(std::string_view bytes, std::string_view media_type) {
  return {.media_type = std::string(media_type),
          .digest = oci::Digest::Of(bytes),
          .size = static_cast<int64_t>(bytes.size())};
}

oci::Manifest MakeManifest(const oci::Descriptor& record, const oci::Descriptor& image, size_t runs) {
  oci::Manifest manifest{.media_type = std::string(oci::kMediaTypeManifest),
                         .artifact_type = std::string(oci::kArtifactTypeRecord)};
  manifest.config = BlobOf(oci::kEmptyConfig, oci::kMediaTypeEmptyConfig);
  manifest.layers = {record};
  manifest.subject = oci::Descriptor{.media_type = image.media_type, .digest = image.digest, .size = image.size};
  manifest.annotations = {{std::string(oci::kAnnotationRecordRuns), std::to_string(runs)}};
  return manifest;
}

}  // namespace

bool IsRecordDamage(const Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsDataLoss(status) || absl::IsResourceExhausted(status) ||
         absl::IsFailedPrecondition(status);
}

Result<std::optional<FoundRecord>> FindRecord(ImageHome& home, const oci::Digest& image_manifest,
                                              const FetchContext& context) {
  SOCI_ASSIGN_OR_RETURN(std::vector<oci::Descriptor> referrers,
                        home.FindReferrers(image_manifest, oci::kArtifactTypeRecord, context));
  Status first_fault;
  for (const oci::Descriptor& candidate : Candidates(std::move(referrers))) {
    Result<Record> record = ReadRecord(home, candidate, image_manifest, context);
    if (record.ok()) return FoundRecord{candidate.digest, *std::move(record)};
    const Status fault = Annotate(record.status(), fmt::format("record {}", candidate.digest.ToString()));
    if (IsRecordDamage(fault)) first_fault.Update(fault);
    // One that is gone is none; anything else may pass, and must not be taken for "no record".
    if (!IsRecordDamage(fault) && !absl::IsNotFound(fault)) return fault;
  }
  if (!first_fault.ok()) return first_fault;
  return std::nullopt;
}

Result<std::optional<FoundRecord>> FindRecord(RegistryClient& registry, const oci::Reference& repository,
                                              const oci::Digest& image_manifest, const FetchContext& context) {
  return FindRecord(*MakeRegistryHome(registry, repository), image_manifest, context);
}

Status CheckRecordFits(const Record& record, const PlatformImage& image) {
  if (record.manifest != image.descriptor.digest) {
    return absl::InvalidArgumentError(fmt::format("the record is about {}, the image is {}", record.manifest.ToString(),
                                                  image.descriptor.digest.ToString()));
  }
  for (const oci::LayerDigest& layer : record.layers) {
    const bool known = std::any_of(image.manifest.layers.begin(), image.manifest.layers.end(),
                                   [&](const oci::Descriptor& one) { return one.digest == layer; });
    if (!known) {
      return absl::InvalidArgumentError(
          fmt::format("the record tells of a layer {}, which the image lacks", layer.ToString()));
    }
  }
  return OkStatus();
}

Result<oci::Digest> PutRecord(ImageHome& home, const PlatformImage& image, const Record& record) {
  SOCI_RETURN_IF_ERROR(CheckRecordFits(record, image));
  SOCI_ASSIGN_OR_RETURN(std::string bytes, EncodeRecord(record));
  const oci::Descriptor blob = BlobOf(bytes, oci::kMediaTypeRecord);
  const oci::Manifest manifest = MakeManifest(blob, image.descriptor, RunCount(record));
  SOCI_RETURN_IF_ERROR(
      home.PutBlob(BlobOf(oci::kEmptyConfig, oci::kMediaTypeEmptyConfig), std::string(oci::kEmptyConfig)));
  SOCI_RETURN_IF_ERROR(Annotate(home.PutBlob(blob, std::move(bytes)), "storing the record"));
  const std::string json = manifest.ToJson();
  const oci::Descriptor descriptor = ReferrerDescriptor(manifest, json);
  SOCI_RETURN_IF_ERROR(Annotate(home.PutReferrer(descriptor, json, image.descriptor.digest),
                                fmt::format("storing the record {}", descriptor.digest.ToString())));
  return descriptor.digest;
}

}  // namespace soci
