// The members of a tar, packed: a layer may have millions, and an Entry takes some hundred bytes whatever it holds.
//
// Appended in order, read in order, taken from the back; the memory of what was taken goes back to the system. A value;
// no thread rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "indexer/tar/entries.h"
#include "indexer/tar/entry.h"

namespace soci::tar {

class EntryList final : public Entries {
 public:
  void Append(const Entry& entry);
  // The last entry. Not of an empty list.
  Entry TakeBack();
  Entry Back() const;

  size_t size() const override { return size_; }
  std::unique_ptr<Cursor> Open() const override;
  // Of all entries: bytes of names and PAX records; number of PAX records.
  uint64_t text_bytes() const { return text_bytes_; }
  uint64_t records() const { return records_; }

 private:
  class PackedCursor;

  std::deque<std::string> chunks_;  // none is empty; an entry lies in one
  size_t size_ = 0;
  uint64_t text_bytes_ = 0;
  uint64_t records_ = 0;
};

}  // namespace soci::tar
