// The words by which a zTOC tells what a member is. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "indexer/tar/entry.h"

namespace soci {

std::string_view EntryTypeName(tar::EntryType type);
std::optional<tar::EntryType> EntryTypeOf(std::string_view name);

}  // namespace soci
