#include "tests/ztoc/ztoc_value.h"

#include <algorithm>
#include <memory>

namespace soci::test {
namespace {

// Entries that somebody else holds.
class BorrowedEntries final : public tar::Entries {
 public:
  explicit BorrowedEntries(const std::vector<tar::Entry>& entries) : entries_(entries) {}

  size_t size() const override { return entries_.size(); }
  std::unique_ptr<Cursor> Open() const override { return std::make_unique<VectorCursor>(entries_); }

 private:
  class VectorCursor final : public Cursor {
   public:
    explicit VectorCursor(const std::vector<tar::Entry>& entries) : entries_(entries) {}
    const tar::Entry* Next() override { return next_ < entries_.size() ? &entries_[next_++] : nullptr; }

   private:
    const std::vector<tar::Entry>& entries_;
    size_t next_ = 0;
  };

  const std::vector<tar::Entry>& entries_;
};

}  // namespace

Ztoc::operator ZtocView() const {
  ZtocView view;
  static_cast<ZtocHead&>(view) = *this;
  view.entries = std::make_shared<BorrowedEntries>(entries);
  view.windows.assign(windows.begin(), windows.end());
  return view;
}

Result<Ztoc> DecodeZtoc(std::string_view bytes) {
  const std::string aligned(bytes);
  SOCI_ASSIGN_OR_RETURN(const ZtocView view, ViewZtoc(aligned));
  return Unpack(view);
}

Result<std::string> EncodeZtoc(const Ztoc& ztoc) {
  ZtocDraft draft;
  static_cast<ZtocHead&>(draft) = ztoc;
  for (const tar::Entry& entry : ztoc.entries) draft.entries.Append(entry);
  draft.windows = ztoc.windows;
  return soci::EncodeZtoc(std::move(draft));
}

Ztoc Unpack(const ZtocView& view) {
  Ztoc ztoc;
  static_cast<ZtocHead&>(ztoc) = view;
  ztoc.entries = Listed(*view.entries);
  for (const ByteSpan window : view.windows) {
    std::copy(window.begin(), window.end(), ztoc.windows.emplace_back().begin());
  }
  return ztoc;
}

Ztoc Unpack(const ZtocDraft& draft) { return Unpack(ViewOf(draft)); }

std::vector<tar::Entry> Listed(const tar::Entries& entries) {
  std::vector<tar::Entry> listed;
  for (const tar::Entry& entry : entries) listed.push_back(entry);
  return listed;
}

}  // namespace soci::test
