// The members of a layer in tar order, read one at a time, wherever they are kept: packed in a list, or in a zTOC.
//
// Any number of cursors may stand in one, each used by one thread at a time; they must not outlive it.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>

#include "indexer/tar/entry.h"

namespace soci::tar {

class Entries {
 public:
  class Cursor {
   public:
    virtual ~Cursor() = default;
    // The next entry, from the first one on; null after the last. It lives until the next call.
    virtual const Entry* Next() = 0;
  };
  class Iterator;

  virtual ~Entries() = default;
  virtual size_t size() const = 0;
  virtual std::unique_ptr<Cursor> Open() const = 0;

  bool empty() const { return size() == 0; }
  // For the range-based for.
  Iterator begin() const;
  std::default_sentinel_t end() const { return {}; }
};

class Entries::Iterator {
 public:
  explicit Iterator(std::unique_ptr<Cursor> cursor) : cursor_(std::move(cursor)), entry_(cursor_->Next()) {}

  const Entry& operator*() const { return *entry_; }
  const Entry* operator->() const { return entry_; }
  Iterator& operator++() {
    entry_ = cursor_->Next();
    return *this;
  }
  bool operator==(std::default_sentinel_t) const { return entry_ == nullptr; }

 private:
  std::unique_ptr<Cursor> cursor_;
  const Entry* entry_;
};

inline Entries::Iterator Entries::begin() const { return Iterator(Open()); }

}  // namespace soci::tar
