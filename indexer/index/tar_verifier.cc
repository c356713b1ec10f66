#include "indexer/index/tar_verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace soci {
namespace {

std::string Quoted(std::string_view name) { return fmt::format("{:?}", name.substr(0, 300)); }

}  // namespace

std::string EntryDifference(const tar::Entry& in_table, const tar::Entry& in_tar) {
  std::string difference;
  auto compare = [&](std::string_view what, const auto& table, const auto& tar,
                     const char* format = "{}: {} in the index, {} in the layer") {
    if (table == tar) return;
    if (!difference.empty()) difference += "; ";
    difference += fmt::format(fmt::runtime(format), what, table, tar);
  };
  auto narrow = [](int64_t id) { return static_cast<int64_t>(static_cast<uint32_t>(id)); };
  constexpr const char* kOctal = "{}: {:o} in the index, {:o} in the layer";
  constexpr const char* kText = "{}: {:?} in the index, {:?} in the layer";
  compare("name", in_table.name, in_tar.name, kText);
  compare("type", static_cast<int>(in_table.type), static_cast<int>(in_tar.type));
  compare("place of data", in_table.header.end, in_tar.header.end);
  compare("size", in_table.size, in_tar.size);
  compare("link target", in_table.link_name, in_tar.link_name, kText);
  compare("mode", in_table.mode, in_tar.mode, kOctal);
  compare("uid", in_table.uid, narrow(in_tar.uid));
  compare("gid", in_table.gid, narrow(in_tar.gid));
  compare("user", in_table.uname, in_tar.uname, kText);
  compare("group", in_table.gname, in_tar.gname, kText);
  compare("mtime seconds", in_table.mtime_seconds, in_tar.mtime_seconds);
  compare("mtime nanoseconds", in_table.mtime_nanoseconds, in_tar.mtime_nanoseconds);
  compare("major device number", in_table.device_major, in_tar.device_major);
  compare("minor device number", in_table.device_minor, in_tar.device_minor);
  if (in_table.pax != in_tar.pax) difference += difference.empty() ? "PAX records differ" : "; PAX records differ";
  return difference;
}

TarVerifier::TarVerifier(const ZtocView& ztoc, LayerFaults& faults)
    : ztoc_(ztoc),
      extents_(ztoc.Spans()),
      faults_(faults),
      reader_([this](const tar::Entry& entry) {
        CompareEntry(entry);
        return OkStatus();
      }),
      entries_(ztoc.entries->Open()),
      next_entry_(entries_->Next()) {}

// The next place at which something is to be looked at.
uint64_t TarVerifier::NextBorder() const {
  return next_span_ < extents_.size() ? extents_[next_span_].uncompressed.end : std::numeric_limits<uint64_t>::max();
}

void TarVerifier::OnTar(ByteSpan bytes) {
  whole_.Update(bytes);
  if (reading_) {
    if (const Status status = reader_.Push(bytes); !status.ok()) {
      faults_.Add(std::string(Message(status)));
      reading_ = false;
    }
  }
  for (;;) {
    PassBorders();
    if (bytes.empty()) return;
    const size_t part = static_cast<size_t>(std::min<uint64_t>(bytes.size(), NextBorder() - position_));
    PassBytes(bytes.first(part));
    bytes = bytes.subspan(part);
  }
}

void TarVerifier::PassBorders() {
  while (position_ == NextBorder()) {
    span_digests_.push_back(span_.Finish());
    ++next_span_;
    if (next_span_ < ztoc_.windows.size()) CheckWindow(next_span_);
  }
}

void TarVerifier::PassBytes(ByteSpan bytes) {
  span_.Update(bytes);
  position_ += bytes.size();
  if (ztoc_.windows.empty()) return;
  history_ += AsText(bytes.last(std::min(bytes.size(), kWindowSize)));
  if (history_.size() > 4 * kWindowSize) history_.erase(0, history_.size() - kWindowSize);
}

void TarVerifier::CheckWindow(size_t id) {
  const std::string_view window = AsText(ztoc_.windows[id]);
  const std::string_view known =
      std::string_view(history_).substr(history_.size() - std::min(history_.size(), kWindowSize));
  const size_t before = kWindowSize - known.size();
  const bool zeros =
      std::all_of(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(before), [](char c) { return c == 0; });
  if (!zeros || window.substr(before) != known) {
    faults_.Add(fmt::format("span {}: its window is not the {} bytes before it", id, kWindowSize));
  }
}

void TarVerifier::CompareEntry(const tar::Entry& entry) {
  while (next_entry_ != nullptr && next_entry_->header.end < entry.header.end) {
    faults_.Add(fmt::format("entry {}: is not in the layer", Quoted(next_entry_->name)));
    next_entry_ = entries_->Next();
  }
  if (next_entry_ == nullptr || next_entry_->header.end > entry.header.end) {
    faults_.Add(fmt::format("entry {}: is missing in the index", Quoted(entry.name)));
    return;
  }
  const std::string difference = EntryDifference(*next_entry_, entry);
  next_entry_ = entries_->Next();
  if (!difference.empty()) faults_.Add(fmt::format("entry {}: {}", Quoted(entry.name), difference));
}

void TarVerifier::Finish() {
  PassBorders();  // of an empty tar
  if (reading_) {
    if (const Status status = reader_.Finish(); !status.ok()) faults_.Add(std::string(Message(status)));
    for (; next_entry_ != nullptr; next_entry_ = entries_->Next()) {
      faults_.Add(fmt::format("entry {}: is not in the layer", Quoted(next_entry_->name)));
    }
    // Of a plain layer the end of the archive may lie before the end of the blob, so only the reader knows it.
    if (reader_.position() != ztoc_.uncompressed_size) {
      faults_.Add(fmt::format("end of the archive: {} in the index, {} in the layer", ztoc_.uncompressed_size,
                              reader_.position()));
    }
  }
  for (; next_span_ < extents_.size(); ++next_span_) {
    faults_.Add(fmt::format("span {}: ends after the layer's tar", next_span_));
  }
}

oci::DiffId TarVerifier::diff_id() { return oci::DiffId(whole_.Finish()); }

}  // namespace soci
