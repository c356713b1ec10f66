#include "indexer/ztoc/toc_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "indexer/tar/header.h"
#include "indexer/tar/sparse.h"
#include "indexer/ztoc/mod_time.h"

namespace soci {
namespace {

// Where the format's readers look for the header after this member: they count the size of every member, also of those
// that have no data.
uint64_t NextHeaderAsRead(const tar::Entry& entry) {
  return tar::RoundToBlock(entry.header.end + static_cast<uint64_t>(entry.size));
}

}  // namespace

TocCollector::TocCollector(TarObserver* observer)
    : observer_(observer), reader_([this](const tar::Entry& entry) { return OnEntry(entry); }) {}

Status TocCollector::Push(ByteSpan tar_bytes) {
  SOCI_RETURN_IF_ERROR(reader_.Push(tar_bytes));
  const uint64_t position = std::exchange(pushed_, pushed_ + tar_bytes.size());
  return observer_ == nullptr ? OkStatus() : observer_->OnTar(position, tar_bytes);
}

Status TocCollector::OnEntry(const tar::Entry& entry) {
  if (tar::SparseFormatOf(entry.pax) != tar::SparseFormat::kNone) {
    Note(Hazard::kSparseFile, fmt::format("sparse file \"{}\"", entry.name));
  }
  if (!entries_.empty() && next_header_ != entry.header.begin) {
    const tar::Entry last = entries_.Back();
    Note(Hazard::kMisplacedHeader,
         fmt::format("size {} of \"{}\", which has no such data, hides the member after it", last.size, last.name));
  }
  if (entry.pax.find("mtime") == entry.pax.end() && FormatModTime({entry.mtime_seconds, 0}).empty()) {
    Note(Hazard::kLossyTime, fmt::format("modification time {} of \"{}\"", entry.mtime_seconds, entry.name));
  }
  entries_.Append(entry);
  next_header_ = NextHeaderAsRead(entry);
  return observer_ == nullptr ? OkStatus() : observer_->OnMember(entry);
}

void TocCollector::Note(Hazard kind, std::string reason) {
  const bool known =
      std::any_of(hazards_.begin(), hazards_.end(), [kind](const LayerHazard& hazard) { return hazard.kind == kind; });
  if (!known) hazards_.push_back({kind, std::move(reason)});
}

}  // namespace soci
