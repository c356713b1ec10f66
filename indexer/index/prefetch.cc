#include "indexer/index/prefetch.h"

#include <algorithm>
#include <map>

#include "indexer/oci/json_writer.h"

namespace soci {
namespace {

constexpr std::string_view kVersion = "1.0";
constexpr std::string_view kBlank = " \t\n\v\f\r";

// The reference tool takes the span of the byte after the last one too.
SpanIdRange SpansOfEntry(const ZtocHead& ztoc, const tar::Entry& entry) {
  const uint64_t start = entry.header.end, size = entry.size > 0 ? static_cast<uint64_t>(entry.size) : 0;
  return {SpanAt(ztoc, start), SpanAt(ztoc, start + size)};
}

}  // namespace

uint64_t SpanAt(const ZtocHead& ztoc, uint64_t uncompressed_offset) {
  if (ztoc.compression == Compression::kUncompressed) return uncompressed_offset / ztoc.span_size;
  const auto after =
      std::upper_bound(ztoc.checkpoints.begin(), ztoc.checkpoints.end(), uncompressed_offset,
                       [](uint64_t offset, const Checkpoint& checkpoint) { return offset < checkpoint.uncompressed; });
  return after == ztoc.checkpoints.begin() ? 0 : static_cast<uint64_t>(after - ztoc.checkpoints.begin()) - 1;
}

std::string CleanPath(std::string_view path) {
  const size_t start = std::min(path.find_first_not_of(kBlank), path.size());
  path = path.substr(start, path.find_last_not_of(kBlank) + 1 - start);
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string clean;
  for (std::string_view part : parts) {
    if (!clean.empty()) clean.push_back('/');
    clean += part;
  }
  return clean;
}

std::vector<std::optional<SpanIdRange>> FindSpans(const ZtocHead& ztoc, const tar::Entries& entries,
                                                  const std::vector<std::string>& paths) {
  std::vector<std::optional<SpanIdRange>> found(paths.size());
  if (paths.empty()) return found;
  std::multimap<std::string_view, size_t> missing;
  for (size_t i = 0; i < paths.size(); ++i) missing.emplace(paths[i], i);
  for (const tar::Entry& entry : entries) {
    const auto [first, last] = missing.equal_range(entry.name);
    for (auto path = first; path != last; ++path) found[path->second] = SpansOfEntry(ztoc, entry);
    missing.erase(first, last);
  }
  return found;
}

std::vector<SpanIdRange> MergeRanges(std::vector<SpanIdRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const SpanIdRange& a, const SpanIdRange& b) {
    return a.first != b.first ? a.first < b.first : a.last < b.last;
  });
  std::vector<SpanIdRange> merged;
  for (const SpanIdRange& range : ranges) {
    if (!merged.empty() && range.first <= merged.back().last + 1) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

std::string PrefetchArtifactJson(const std::vector<SpanIdRange>& ranges) {
  oci::JsonWriter json;
  json.BeginObject().Member("version", kVersion).Key("prefetch_spans").BeginArray();
  for (const SpanIdRange& range : ranges) {
    json.BeginObject().Key("start_span").Unsigned(range.first).Key("end_span").Unsigned(range.last).EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

}  // namespace soci
