// The members that a zTOC tells, decoded one at a time where they lie in its bytes.
//
// Checked as a whole before there is one: every entry is in order and inside the layer, and none is refused later.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/tar/entries.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {

class ZtocEntries final : public tar::Entries {
 public:
  // Borrows `bytes`: a buffer that FlatBuffers' verifier accepted, and whose head is `head`. kInvalidArgument naming
  // the entry that is wrong.
  static Result<std::shared_ptr<const tar::Entries>> Check(std::string_view bytes, const ZtocHead& head);

  size_t size() const override;
  std::unique_ptr<Cursor> Open() const override;

 private:
  class Reader;

  ZtocEntries(std::string_view bytes, const ZtocHead& head)
      : bytes_(bytes), head_text_(head.build_tool.size()), archive_end_(head.uncompressed_size) {}
  // Sorts them by place, if the table does not have them so already.
  void FindOrder();

  const std::string_view bytes_;
  const uint64_t head_text_;
  const uint64_t archive_end_;
  std::vector<uint32_t> order_;  // places in the table; empty if that is in order
};

}  // namespace soci
