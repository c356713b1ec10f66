// Compares what a zTOC says with the layer's tar as it passes by: each window with the bytes before it, each entry with
// the header it stands for, what each span holds.
//
// Memory: one window and the tar reader's. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/index/layer_faults.h"
#include "indexer/oci/digest.h"
#include "indexer/tar/reader.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {

class TarVerifier {
 public:
  // Borrows both.
  TarVerifier(const ZtocView& ztoc, LayerFaults& faults);

  void OnTar(ByteSpan bytes);
  // No more bytes will come.
  void Finish();

  oci::DiffId diff_id();
  // What the layer holds where each span is; fewer if it ends before.
  const std::vector<oci::Digest>& spans() const { return span_digests_; }

 private:
  void PassBorders();
  void PassBytes(ByteSpan bytes);
  void CheckWindow(size_t id);
  void CompareEntry(const tar::Entry& entry);
  uint64_t NextBorder() const;

  const ZtocView& ztoc_;
  const std::vector<SpanExtent> extents_;
  LayerFaults& faults_;
  tar::Reader reader_;
  bool reading_ = true;  // the tar reader has not given up
  const std::unique_ptr<tar::Entries::Cursor> entries_;
  const tar::Entry* next_entry_;  // of the table's; null after the last
  uint64_t position_ = 0;
  size_t next_span_ = 0;  // whose end is waited for
  std::string history_;   // the last bytes, up to a window
  oci::Hasher whole_;
  oci::Hasher span_;
  std::vector<oci::Digest> span_digests_;
};

// How the table's entry differs from the tar's, in words; empty if it does not. What the format cannot hold is no
// difference.
std::string EntryDifference(const tar::Entry& in_table, const tar::Entry& in_tar);

}  // namespace soci
