#include "indexer/net/content_range.h"

#include "indexer/net/text.h"

namespace soci {

std::optional<ContentRange> ParseContentRange(std::string_view header) {
  header = Trim(header);
  constexpr std::string_view kUnit = "bytes";
  if (header.size() <= kUnit.size() || !EqualsIgnoringCase(header.substr(0, kUnit.size()), kUnit)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  if (header.front() != ' ' && header.front() != '\t') return std::nullopt;
  header = Trim(header);

  size_t slash = header.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view range = Trim(header.substr(0, slash));
  std::string_view total = Trim(header.substr(slash + 1));
  size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  std::optional<uint64_t> first = ParseDecimal(range.substr(0, dash));
  std::optional<uint64_t> last = ParseDecimal(range.substr(dash + 1));
  if (!first || !last || *last < *first || *last == UINT64_MAX) return std::nullopt;

  ContentRange parsed{*first, *last + 1, std::nullopt};
  if (total != "*") {
    parsed.total = ParseDecimal(total);
    if (!parsed.total || parsed.end > *parsed.total) return std::nullopt;
  }
  return parsed;
}

}  // namespace soci
