#include "indexer/net/link_header.h"

#include "indexer/net/text.h"

namespace soci {
namespace {

// What comes before the next `separator` that is in no quoted string; `rest` goes on behind it.
std::string_view TakeUntil(char separator, std::string_view& rest) {
  bool quoted = false;
  size_t i = 0;
  for (; i < rest.size(); ++i) {
    if (rest[i] == '\\' && quoted) {
      ++i;
    } else if (rest[i] == '"') {
      quoted = !quoted;
    } else if (rest[i] == separator && !quoted) {
      break;
    }
  }
  i = i < rest.size() ? i : rest.size();
  std::string_view taken = rest.substr(0, i);
  rest.remove_prefix(i < rest.size() ? i + 1 : i);
  return taken;
}

// One value of rel may name several relations, parted by spaces.
bool NamesNext(std::string_view relations) {
  while (!relations.empty()) {
    size_t space = relations.find(' ');
    if (EqualsIgnoringCase(relations.substr(0, space), "next")) return true;
    if (space == std::string_view::npos) return false;
    relations.remove_prefix(space + 1);
  }
  return false;
}

bool HasRelNext(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = Trim(TakeUntil(';', parameters));
    size_t equals = parameter.find('=');
    if (equals == std::string_view::npos || !EqualsIgnoringCase(Trim(parameter.substr(0, equals)), "rel")) continue;
    std::string_view value = Trim(parameter.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return NamesNext(value);
  }
  return false;
}

}  // namespace

std::optional<std::string> ParseNextLink(std::string_view header) {
  while (true) {
    size_t open = header.find('<');
    if (open == std::string_view::npos) return std::nullopt;
    size_t close = header.find('>', open);
    if (close == std::string_view::npos) return std::nullopt;
    std::string_view target = header.substr(open + 1, close - open - 1);
    header.remove_prefix(close + 1);
    if (HasRelNext(TakeUntil(',', header)) && !target.empty()) return std::string(target);
  }
}

}  // namespace soci
