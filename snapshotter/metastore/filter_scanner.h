// Cuts a filter into tokens. Input is at most what one gRPC message holds; nothing recurses.
#pragma once

#include <string>
#include <string_view>

#include "indexer/base/result.h"

namespace soci {

class FilterScanner {
 public:
  explicit FilterScanner(std::string_view input) : input_(input) {}

  // The next character, spaces not skipped; '\0' at the end.
  char Peek() const { return at_ < input_.size() ? input_[at_] : '\0'; }
  bool AtEnd() const { return at_ >= input_.size(); }

  // A word of letters, digits and underscores, or a "quoted" one.
  Result<std::string> Field();
  // The first character of "==", "!=" or "~=".
  Result<char> Operator();
  // Quoted, or everything up to a comma or space. A regular expression may be quoted with / and | too.
  Result<std::string> Value(bool alternative_quotes);
  // One character that must come next.
  Status Expect(char separator);

  Status ErrorHere(std::string_view what) const;

 private:
  void SkipSpaces();
  Result<std::string> Quoted();
  Status Escape(char quote, std::string& out);
  Status Digits(unsigned base, unsigned count, bool as_rune, std::string& out);

  const std::string_view input_;
  size_t at_ = 0;
};

}  // namespace soci
