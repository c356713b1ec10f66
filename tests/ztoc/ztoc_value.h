// A zTOC whose every part can be looked at and changed, as the product's own forms cannot. A value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/tar/entry.h"
#include "indexer/ztoc/ztoc.h"

namespace soci::test {

struct Ztoc : ZtocHead {
  std::vector<tar::Entry> entries;
  Windows windows;

  // Borrows this one.
  operator ZtocView() const;  // NOLINT(google-explicit-constructor): whatever reads a zTOC is to read this one
};

// By the product's reader and writer. DecodeZtoc takes bytes of any alignment.
Result<Ztoc> DecodeZtoc(std::string_view bytes);
Result<std::string> EncodeZtoc(const Ztoc& ztoc);

Ztoc Unpack(const ZtocView& view);
Ztoc Unpack(const ZtocDraft& draft);

std::vector<tar::Entry> Listed(const tar::Entries& entries);

}  // namespace soci::test
