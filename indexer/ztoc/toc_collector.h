// Gathers a layer's members from its tar bytes, and notices those that a zTOC cannot tell exactly. One thread at a
// time.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
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

  std::vector<tar::Entry> TakeEntries();
  std::vector<LayerHazard> TakeHazards() { return std::move(hazards_); }

 private:
  Status OnEntry(const tar::Entry& entry);
  void Note(Hazard kind, std::string reason);

  TarObserver* const observer_;
  uint64_t pushed_ = 0;
  std::deque<tar::Entry> entries_;  // a deque: growing must not copy them
  std::vector<LayerHazard> hazards_;
  tar::Reader reader_;
};

}  // namespace soci
