// What `list` and `info` show of SOCI indexes. Pure.
#pragma once

#include <string>
#include <vector>

#include "indexer/index/soci_index.h"
#include "indexer/oci/descriptor.h"

namespace soci::cli {

struct ListedIndex {
  oci::Platform platform;
  oci::Digest image;
  SociIndex index;
};

std::string ListTable(const std::vector<ListedIndex>& indexes);
std::string ListJson(const std::vector<ListedIndex>& indexes);

std::string InfoText(const SociIndex& index);
// One object, without a line feed.
std::string InfoJson(const SociIndex& index);

}  // namespace soci::cli
