#include "bench/run/command_line.h"

#include <fmt/format.h>

namespace soci::bench {

soci::Result<std::vector<std::string>> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool within = false;  // a word, which may be an empty pair of quotes so far
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else if (c == '\\' && quote == '"' && i + 1 < line.size() && (line[i + 1] == '"' || line[i + 1] == '\\')) {
        word += line[++i];
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      within = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (within) words.push_back(std::move(word));
      word.clear();
      within = false;
    } else {
      if (c == '\\' && i + 1 < line.size()) ++i;
      word += line[i];
      within = true;
    }
  }
  if (quote != 0) return absl::InvalidArgumentError(fmt::format("a quote is not closed in: {}", line));
  if (within) words.push_back(std::move(word));
  return words;
}

soci::Result<std::string> Fill(std::string_view text, const Values& values) {
  std::string filled;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool doubled = i + 1 < text.size() && text[i + 1] == text[i];
    if ((text[i] == '{' || text[i] == '}') && doubled) {
      filled += text[i++];
    } else if (text[i] == '{') {
      const size_t end = text.find('}', i);
      if (end == std::string_view::npos) return absl::InvalidArgumentError(fmt::format("{{ without }} in: {}", text));
      const std::string name(text.substr(i + 1, end - i - 1));
      const auto value = values.find(name);
      if (value == values.end()) return absl::InvalidArgumentError(fmt::format("{{{}}} means nothing here", name));
      filled += value->second;
      i = end;
    } else {
      filled += text[i];
    }
  }
  return filled;
}

soci::Result<std::vector<std::string>> CommandLine(std::string_view line, const Values& values) {
  SOCI_ASSIGN_OR_RETURN(const std::vector<std::string> words, SplitWords(line));
  std::vector<std::string> filled;
  for (const std::string& word : words) {
    SOCI_ASSIGN_OR_RETURN(std::string one, Fill(word, values));
    if (!one.empty()) filled.push_back(std::move(one));
  }
  return filled;
}

}  // namespace soci::bench
