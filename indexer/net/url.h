// Splits, joins and names URLs, so that secrets in them stay out of logs and headers stay with the host they are meant
// for. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"

namespace soci {

struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // lower case; IPv6 with its brackets
  std::string port;    // always there: 80 or 443 if the text has none
  std::string path;    // from the "/" on, as written
  std::string query;   // without "?", as written

  // kInvalidArgument for anything but http and https, and for user names in it. The text is not in the error.
  static Result<Url> Parse(std::string_view text);
  std::string ToString() const;
  // scheme://host[:port], the port only where it is not the scheme's own.
  std::string Origin() const;
  // The values of a query parameter, decoded.
  std::vector<std::string> QueryValues(std::string_view name) const;
};

// What `location` means in an answer of `base`: absolute, or relative to it.
Result<Url> ResolveUrl(const Url& base, std::string_view location);

// Same scheme, host and port: what one is told may be told to the other.
bool SameOrigin(const Url& a, const Url& b);

}  // namespace soci
