// Open descriptors of backing files, the least recently used closed first, so that hot files are not opened for every
// read and a descriptor limit of 256 is enough. One cache for all layers. Any thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "indexer/base/mutex.h"
#include "indexer/base/unique_fd.h"

namespace soci {

class FdCache {
 public:
  // At most `capacity` descriptors are kept; those in use by a reader stay open until it is done.
  explicit FdCache(size_t capacity = 64) : capacity_(capacity) {}

  // A number of its own for each layer; keys of different layers never meet.
  uint64_t NewOwner();

  std::shared_ptr<const UniqueFd> Find(uint64_t owner, uint64_t key);
  std::shared_ptr<const UniqueFd> Insert(uint64_t owner, uint64_t key, UniqueFd file);
  void Forget(uint64_t owner);

 private:
  struct Key {
    uint64_t owner;
    uint64_t key;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const { return std::hash<uint64_t>()(key.key * 31 + key.owner); }
  };
  struct Entry {
    Key key;
    std::shared_ptr<const UniqueFd> file;
  };

  const size_t capacity_;
  Mutex mutex_;                                      // a leaf; nothing is closed under it
  std::list<Entry> recent_ SOCI_GUARDED_BY(mutex_);  // latest first
  std::unordered_map<Key, std::list<Entry>::iterator, KeyHash> entries_ SOCI_GUARDED_BY(mutex_);
  uint64_t next_owner_ SOCI_GUARDED_BY(mutex_) = 1;
};

}  // namespace soci
