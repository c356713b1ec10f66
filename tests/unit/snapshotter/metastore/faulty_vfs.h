// Makes SQLite's disk fail: counts reads, writes, syncs and truncations of every database file, and fails one of them.
//
// One per process at a time; databases opened while it lives go through it. One thread.
#pragma once

#include <cstdint>

namespace soci::test {

class FaultyVfs {
 public:
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  // The call with this number, from 1, fails with an I/O error, once. 0: none.
  void FailAt(uint64_t call);
  // Since the last FailAt.
  uint64_t calls() const;
};

}  // namespace soci::test
