// Rows of cells, aligned for a terminal: the first column to the left, the others to the right. Pure.
#pragma once

#include <string>
#include <vector>

namespace soci::bench {

class Table {
 public:
  // The first row is the head; a line is drawn below it. Missing cells are empty.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.size() < 2; }
  std::string ToText() const;
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace soci::bench
