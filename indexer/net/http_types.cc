#include "indexer/net/http_types.h"

#include <algorithm>
#include <charconv>

#include "indexer/net/text.h"

namespace soci {

void HttpHeaders::Set(std::string name, std::string value) {
  Remove(name);
  Add(std::move(name), std::move(value));
}

void HttpHeaders::Remove(std::string_view name) {
  std::erase_if(fields_, [name](const Field& field) { return EqualsIgnoringCase(field.first, name); });
}

std::optional<std::string_view> HttpHeaders::Find(std::string_view name) const {
  for (const Field& field : fields_) {
    if (EqualsIgnoringCase(field.first, name)) return field.second;
  }
  return std::nullopt;
}

std::vector<std::string_view> HttpHeaders::FindAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const Field& field : fields_) {
    if (EqualsIgnoringCase(field.first, name)) values.push_back(field.second);
  }
  return values;
}

std::optional<uint64_t> HttpHeaders::ContentLength() const {
  std::optional<std::string_view> value = Find("Content-Length");
  return value ? ParseDecimal(*value) : std::nullopt;
}

std::string HttpHeaders::MediaType() const {
  std::optional<std::string_view> value = Find("Content-Type");
  if (!value) return "";
  return ToLower(Trim(value->substr(0, value->find(';'))));
}

}  // namespace soci
