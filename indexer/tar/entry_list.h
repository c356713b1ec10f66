// The members of a tar, packed: a layer may have millions, and an Entry takes some hundred bytes whatever it holds.
//
// Appended in order, read in order, taken from the back; the memory of what was taken goes back to the system. A value;
// no thread rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <string>

#include "indexer/tar/entry.h"

namespace soci::tar {

class EntryList {
 public:
  class Iterator;

  void Append(const Entry& entry);
  // The last entry. Not of an empty list.
  Entry TakeBack();
  Entry Back() const;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Of all entries: bytes of names and PAX records; number of PAX records.
  uint64_t text_bytes() const { return text_bytes_; }
  uint64_t records() const { return records_; }

  // An iterator holds the entry that it stands at, until it is moved.
  Iterator begin() const;
  Iterator end() const;

 private:
  std::deque<std::string> chunks_;  // none is empty; an entry lies in one
  size_t size_ = 0;
  uint64_t text_bytes_ = 0;
  uint64_t records_ = 0;
};

class EntryList::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Entry;
  using difference_type = std::ptrdiff_t;
  using pointer = const Entry*;
  using reference = const Entry&;

  Iterator(const EntryList& list, size_t chunk);

  const Entry& operator*() const { return entry_; }
  const Entry* operator->() const { return &entry_; }
  Iterator& operator++();
  bool operator==(const Iterator& other) const { return chunk_ == other.chunk_ && begin_ == other.begin_; }

 private:
  void Load();

  const EntryList* list_;
  size_t chunk_;
  size_t begin_ = 0;  // of the entry in its chunk
  size_t end_ = 0;
  Entry entry_;
};

}  // namespace soci::tar
