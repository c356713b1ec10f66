// Command lines as people write them in a recipe: split into words as a shell would, with {name} for what differs from
// run to run. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"

namespace soci::bench {

using Values = std::map<std::string, std::string>;

// The words, without their quotes. kInvalidArgument if a quote is not closed.
soci::Result<std::vector<std::string>> SplitWords(std::string_view line);

// Every {name} replaced; kInvalidArgument names one that has no value. "{{" and "}}" stand for braces.
soci::Result<std::string> Fill(std::string_view text, const Values& values);

// Both: a value stays one word, whatever is in it, and a word that becomes empty is left out.
soci::Result<std::vector<std::string>> CommandLine(std::string_view line, const Values& values);

}  // namespace soci::bench
