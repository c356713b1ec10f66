// Gathers a layer's members from its tar bytes, and notices those that a zTOC cannot tell exactly. One thread at a
// time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/tar/entry_list.h"
#include "indexer/tar/reader.h"
#include "indexer/ztoc/layer_scanner.h"
#include "indexer/ztoc/tar_observer.h"

namespace soci {

class TocCollector {
 public:
  // `observer` may be null.
  explicit TocCollector(TarObserver* observer = nullptr);

  Status Push(ByteSpan tar_bytes);
  Status Finish() { return reader_.Finish(); }
  bool at_end() const { return reader_.at_end(); }
  uint64_t position() const { return reader_.position(); }

  tar::EntryList TakeEntries() { return std::move(entries_); }
  std::vector<LayerHazard> TakeHazards() { return std::move(hazards_); }

 private:
  Status OnEntry(const tar::Entry& entry);
  void Note(Hazard kind, std::string reason);

  TarObserver* const observer_;
  uint64_t pushed_ = 0;
  tar::EntryList entries_;
  uint64_t next_header_ = 0;  // where a reader expects it
  std::vector<LayerHazard> hazards_;
  tar::Reader reader_;
};

}  // namespace soci
