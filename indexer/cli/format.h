// Numbers and tables as people read them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace soci::cli {

// "512 B", "1.5 KiB", "37.2 MiB".
std::string HumanSize(uint64_t bytes);

// Columns as wide as their widest cell, two blanks apart; every line ends with a line feed. Columns in `right` are
// aligned to the right.
std::string Table(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& right = {});

// "sha256:" and the first twelve digits: enough to tell layers of one image apart.
std::string ShortDigest(const std::string& digest);

}  // namespace soci::cli
