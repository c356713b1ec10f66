// Reads what a server wants of a client that it turned away: the WWW-Authenticate header. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace soci {

struct Challenge {
  std::string scheme;                         // lower case: "basic", "bearer"
  std::map<std::string, std::string> params;  // names in lower case: realm, service, scope, error
};

// All challenges of one header value, in order; one value may hold several. What is malformed is left out, never an
// error: a server that cannot be understood is a server without a usable challenge.
std::vector<Challenge> ParseChallenges(std::string_view header);

}  // namespace soci
