#include "indexer/index/ztoc_cache.h"

#include <fmt/format.h>

#include <utility>

#include "indexer/base/file_io.h"
#include "indexer/index/find_index.h"

namespace soci {
namespace {

constexpr std::string_view kFirstLine = "soci-index ztoc cache 1";
constexpr uint64_t kMaxHead = 1024;

// The text up to the next line feed; moves `rest` behind it.
std::string_view TakeLine(std::string_view& rest) {
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) return std::exchange(rest, {});
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

}  // namespace

Result<std::unique_ptr<ZtocCache>> ZtocCache::Open(const std::string& directory) {
  SOCI_RETURN_IF_ERROR(MakeDirectories(directory));
  return std::unique_ptr<ZtocCache>(new ZtocCache(directory));
}

std::string ZtocCache::PathOf(const oci::Descriptor& layer, const LayerIndexOptions& options) const {
  return fmt::format("{}/{}-{}-{}", directory_, layer.digest.Hex(), options.span_size,
                     oci::Digest::Of(options.build_tool).Hex().substr(0, 16));
}

std::optional<IndexedLayer> ZtocCache::Find(const oci::Descriptor& layer, const LayerIndexOptions& options) const {
  Result<std::string> file = ReadFile(PathOf(layer, options), static_cast<uint64_t>(kMaxZtocBytes) + kMaxHead);
  if (!file.ok()) return std::nullopt;
  std::string_view rest = *file;
  if (TakeLine(rest) != kFirstLine) return std::nullopt;
  const Result<oci::Digest> digest = oci::Digest::Parse(TakeLine(rest));
  const Result<oci::DiffId> diff_id = oci::DiffId::Parse(TakeLine(rest));
  if (!digest.ok() || !diff_id.ok() || oci::Digest::Of(rest) != *digest) return std::nullopt;
  file->erase(0, file->size() - rest.size());  // in place: a zTOC is large
  const Result<ZtocView> ztoc = ViewZtoc(*file);
  const bool of_this_layer = ztoc.ok() && ztoc->compressed_size == static_cast<uint64_t>(layer.size) &&
                             ztoc->span_size == options.span_size && ztoc->build_tool == options.build_tool;
  if (!of_this_layer) return std::nullopt;
  IndexedLayer indexed = DescribeLayer(*ztoc, *ztoc->entries, *diff_id, options);
  indexed.ztoc = *std::move(file);
  return indexed;
}

Status ZtocCache::Store(const oci::Descriptor& layer, const LayerIndexOptions& options, const IndexedLayer& indexed) {
  const std::string head =
      fmt::format("{}\n{}\n{}\n", kFirstLine, oci::Digest::Of(indexed.ztoc).ToString(), indexed.diff_id.ToString());
  return WriteFileAtomic(PathOf(layer, options), std::vector<std::string_view>{head, indexed.ztoc});
}

}  // namespace soci
