#include "indexer/ztoc/ztoc.h"

#include <utility>

namespace soci {

std::vector<SpanExtent> ZtocHead::Spans() const {
  if (compression == Compression::kUncompressed) return PlainSpans(span_size, compressed_size);
  return SpansOf(checkpoints, compressed_size, uncompressed_size);
}

Ztoc Unpack(ZtocDraft draft) {
  Ztoc ztoc;
  static_cast<ZtocHead&>(ztoc) = static_cast<ZtocHead&&>(draft);
  ztoc.entries.assign(draft.entries.begin(), draft.entries.end());
  ztoc.windows = std::move(draft.windows);
  return ztoc;
}

ZtocView ViewOf(const Ztoc& ztoc) {
  ZtocView view;
  static_cast<ZtocHead&>(view) = ztoc;
  for (const tar::Entry& entry : ztoc.entries) view.entries.Append(entry);
  view.windows.assign(ztoc.windows.begin(), ztoc.windows.end());
  return view;
}

}  // namespace soci
