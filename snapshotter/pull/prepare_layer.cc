#include "snapshotter/pull/prepare_layer.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <future>

#include "indexer/base/file_io.h"
#include "indexer/index/find_index.h"
#include "indexer/oci/annotations.h"
#include "indexer/table/layer_table.h"
#include "indexer/table/table_compiler.h"
#include "indexer/ztoc/ztoc.h"
#include "snapshotter/pull/layer_numbers.h"
#include "snapshotter/unpack/unsynced_mark.h"

namespace soci {
namespace {

// The format writes Go's bools.
bool IsTrue(const oci::Annotations& annotations, std::string_view key) {
  auto found = annotations.find(std::string(key));
  if (found == annotations.end()) return false;
  for (std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (found->second == yes) return true;
  }
  return false;
}

Result<std::string> Compile(const std::string& ztoc_bytes, const oci::LayerDigest& layer, const LayerOrigin& origin) {
  SOCI_ASSIGN_OR_RETURN(const ZtocView ztoc, ViewZtoc(ztoc_bytes));
  if (ztoc.compressed_size != origin.layer_size) {
    return absl::InvalidArgumentError(fmt::format("zTOC {} is about a layer of {} bytes, the image's layer has {}",
                                                  origin.ztoc.ToString(), ztoc.compressed_size, origin.layer_size));
  }
  CompileOptions options;
  options.disable_xattrs = origin.disable_xattrs;
  return CompileTable(ztoc, layer, options);
}

}  // namespace

bool IsSealed(const std::string& layer_folder) {
  struct stat sealed {};
  return ::lstat((layer_folder + "/fs").c_str(), &sealed) == 0 && S_ISDIR(sealed.st_mode);
}

Result<ReadyLayer> PrepareLayer(RegistryClient& registry, const LayerToPrepare& wanted, const std::string& layer_folder,
                                LayerNumbers& numbers, const FetchContext& context) {
  const oci::LayerDigest layer(wanted.layer.digest);
  if (auto adopted = AdoptLayer(layer, layer_folder); adopted.ok()) {
    // A layer's folder serves every image that has it; the index of one image must not decide what another one reads.
    SOCI_RETURN_IF_ERROR(CheckPlaceInImage(*adopted->table, wanted.lowest));
    const LayerOrigin& here = adopted->origin;
    const bool same_layer = here.diff_id == wanted.diff_id;
    if (same_layer && here.ztoc == wanted.ztoc.digest) return adopted;
    // A sealed layer was verified against its DiffID: it does not matter any more which index it came by.
    const bool disable_xattrs = IsTrue(wanted.ztoc.annotations, oci::kAnnotationDisableXattrs);
    if (same_layer && here.disable_xattrs == disable_xattrs && IsSealed(layer_folder)) return adopted;
    return absl::FailedPreconditionError(fmt::format("the layer is here by zTOC {} of {}, this image names zTOC {}",
                                                     here.ztoc.ToString(), here.image.ToString(),
                                                     wanted.ztoc.digest.ToString()));
  }

  ReadyLayer ready;
  LayerOrigin& origin = ready.origin;
  origin.image = wanted.image;
  origin.manifest = wanted.manifest;
  origin.media_type = wanted.layer.media_type;
  origin.layer_size = static_cast<uint64_t>(wanted.layer.size);
  origin.diff_id = wanted.diff_id;
  origin.ztoc = wanted.ztoc.digest;
  origin.disable_xattrs = IsTrue(wanted.ztoc.annotations, oci::kAnnotationDisableXattrs);

  SOCI_ASSIGN_OR_RETURN(std::string ztoc, FetchZtoc(registry, wanted.image, wanted.ztoc, context));
  // Beside the compilation, which the start waits for.
  auto kept = std::async(std::launch::async, [&] { return ReplaceFile(layer_folder + "/ztoc", ztoc, 0600); });
  SOCI_ASSIGN_OR_RETURN(std::string table, Compile(ztoc, layer, origin));
  SOCI_RETURN_IF_ERROR(kept.get());
  SOCI_RETURN_IF_ERROR(ReplaceFile(layer_folder + "/table", table, 0600));
  origin.number = numbers.Take(layer);
  SOCI_RETURN_IF_ERROR(WriteOrigin(layer_folder, origin));
  SOCI_ASSIGN_OR_RETURN(ready.table, LayerTable::Open(layer_folder + "/table", layer));
  SOCI_RETURN_IF_ERROR(CheckPlaceInImage(*ready.table, wanted.lowest));
  return ready;
}

Status CheckPlaceInImage(const LayerTable& table, bool lowest) {
  if (lowest || !table.has_implied_directories()) return OkStatus();
  return absl::InvalidArgumentError(
      "it has a folder without a member of its own, whose owner and mode the layers below decide on");
}

Result<ReadyLayer> AdoptLayer(const oci::LayerDigest& layer, const std::string& layer_folder) {
  if (ReadUnsyncedMark(layer_folder) == UnsyncedMark::kOfAnotherBoot) {
    for (const char* name : {"/origin.json", "/fs", "/table", "/ztoc", "/unsynced"}) {
      SOCI_RETURN_IF_ERROR(RemoveTree(layer_folder + name));
    }
    return absl::DataLossError("the machine went down before the layer was on the disk");
  }
  ReadyLayer ready;
  SOCI_ASSIGN_OR_RETURN(ready.origin, ReadOrigin(layer_folder));
  const LayerOrigin& origin = ready.origin;
  // Without a zTOC the table tells the sealed tree only.
  if (origin.ztoc.empty() && !IsSealed(layer_folder)) return absl::DataLossError("the unpacked layer has gone");
  const std::string table_path = layer_folder + "/table";
  if (auto table = LayerTable::Open(table_path, layer); table.ok()) {
    ready.table = *std::move(table);
    return ready;
  }

  // Damaged, or of another version of this program: the zTOC is still what it was if its digest says so.
  SOCI_ASSIGN_OR_RETURN(std::string ztoc, ReadFile(layer_folder + "/ztoc", kMaxZtocBytes));
  if (oci::Digest::Of(ztoc) != origin.ztoc) {
    return absl::DataLossError(fmt::format("{}/ztoc does not match its digest", layer_folder));
  }
  SOCI_ASSIGN_OR_RETURN(std::string table, Compile(ztoc, layer, origin));
  SOCI_RETURN_IF_ERROR(ReplaceFile(table_path, table, 0600));
  SOCI_ASSIGN_OR_RETURN(ready.table, LayerTable::Open(table_path, layer));
  return ready;
}

}  // namespace soci
