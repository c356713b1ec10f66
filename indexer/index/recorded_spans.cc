#include "indexer/index/recorded_spans.h"

#include <algorithm>
#include <set>
#include <string>

#include "indexer/index/files_at.h"

namespace soci {

RecordedSpans FindRecordedSpans(const ZtocHead& ztoc, const tar::Entries& entries, const Record& record) {
  std::set<std::string> paths;
  for (const RecordedFile& file : record.files) paths.insert(file.path);
  const std::map<std::string, MemberAt> members = FilesAt(entries, paths);
  RecordedSpans spans;
  for (uint32_t i = 0; i < record.files.size(); ++i) {
    if (members.contains(record.files[i].path)) spans.try_emplace(i);
  }
  for (const RecordedExtent& extent : record.extents) {
    const auto place = spans.find(extent.file);
    if (place == spans.end()) continue;
    const RecordedFile& file = record.files[extent.file];
    const std::optional<UncompressedRange>& content = members.at(file.path).content;
    if (!content || content->size() != file.size) continue;
    const uint64_t begin = content->begin + extent.offset;
    place->second.push_back({SpanAt(ztoc, begin), SpanAt(ztoc, begin + extent.size - 1)});
  }
  return spans;
}

std::vector<std::vector<SpanIdRange>> ChooseRecordedSpans(const Record& record,
                                                          const std::vector<LayerSpansFound>& layers) {
  std::vector<std::vector<SpanIdRange>> chosen(layers.size());
  for (uint32_t file = 0; file < record.files.size(); ++file) {
    const oci::LayerDigest& own = record.layers[record.files[file].layer];
    const bool has_own = std::any_of(layers.begin(), layers.end(), [&](const auto& one) { return one.layer == own; });
    for (size_t i = layers.size(); i-- > 0;) {
      if (layers[i].found == nullptr || (has_own && layers[i].layer != own)) continue;
      const auto found = layers[i].found->find(file);
      if (found == layers[i].found->end()) continue;
      chosen[i].insert(chosen[i].end(), found->second.begin(), found->second.end());
      break;
    }
  }
  for (std::vector<SpanIdRange>& spans : chosen) spans = MergeRanges(std::move(spans));
  return chosen;
}

}  // namespace soci
