#include "indexer/ztoc/ztoc.h"

#include <utility>

namespace soci {

std::vector<SpanExtent> ZtocHead::Spans() const {
  if (compression == Compression::kUncompressed) return PlainSpans(span_size, compressed_size);
  return SpansOf(checkpoints, compressed_size, uncompressed_size);
}

ZtocView ViewOf(const ZtocDraft& draft) {
  ZtocView view;
  static_cast<ZtocHead&>(view) = draft;
  view.entries = std::shared_ptr<const tar::Entries>(std::shared_ptr<void>(), &draft.entries);
  view.windows.assign(draft.windows.begin(), draft.windows.end());
  return view;
}

}  // namespace soci
