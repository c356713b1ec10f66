#include "indexer/ztoc/entry_type.h"

#include <array>

namespace soci {
namespace {

struct Name {
  tar::EntryType type;
  std::string_view text;
};

constexpr std::array<Name, 7> kNames{{{tar::EntryType::kRegular, "reg"},
                                      {tar::EntryType::kHardLink, "hardlink"},
                                      {tar::EntryType::kSymlink, "symlink"},
                                      {tar::EntryType::kCharDevice, "char"},
                                      {tar::EntryType::kBlockDevice, "block"},
                                      {tar::EntryType::kDirectory, "dir"},
                                      {tar::EntryType::kFifo, "fifo"}}};

}  // namespace

std::string_view EntryTypeName(tar::EntryType type) {
  for (const Name& name : kNames) {
    if (name.type == type) return name.text;
  }
  return {};
}

std::optional<tar::EntryType> EntryTypeOf(std::string_view text) {
  for (const Name& name : kNames) {
    if (name.text == text) return name.type;
  }
  return std::nullopt;
}

}  // namespace soci
